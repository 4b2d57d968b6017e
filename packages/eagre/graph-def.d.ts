// It has nothing to name.
export {};
