import { type Allocator, type Backend, type Executable, HostScalars, type Kernel, type KernelName, type NumericDType, type Plan, PooledAllocator, type ScalarProgram, type Storage, type Watcher } from '@eagre/backend';
/** Bytes that only this file can look at. */
declare class RemoteBuffer {
    #private;
    readonly size: number;
    constructor(host: Allocator, bytes: number);
    /** What the kernels that do the work see. */
    static open({ buffer, byteOffset, capacity }: Storage): Storage;
    end(): void;
}
/** What the device has been told and has not done yet. */
declare class Stream {
    #private;
    /** How often the host waited for work that was not done. */
    waits: number;
    push(work: () => void): void;
    /** Does what is left. @throws the first error since the last wait. */
    wait(): void;
    waitAsync(): Promise<void>;
    throwLate(): void;
}
declare class RemoteAllocator extends PooledAllocator<RemoteBuffer> {
    #private;
    readonly isHost = false;
    readonly stream: Stream;
    readonly scalars: HostScalars;
    constructor(limit: number, host: Backend, watcher: Watcher | undefined);
    read(from: Storage, bytes: number): Uint8Array;
    readAsync(from: Storage, bytes: number): Promise<Uint8Array>;
    write(to: Storage, bytes: Uint8Array): void;
    copy(from: Storage, to: Storage, bytes: number): void;
    synchronize(): void;
    synchronizeAsync(): Promise<void>;
    protected allocated(): number;
    protected take(bytes: number): RemoteBuffer;
    protected addressOf(): number;
    protected give(buffer: RemoteBuffer): void;
}
export interface RemoteOptions {
    /** `REMOTE` unless given. */
    readonly type?: string;
    readonly index?: number;
    /** Bytes of memory; 64 MiB unless given. */
    readonly memory?: number;
    /** Tells which objects were collected, in a loop without a pause too: the native addon. */
    readonly watcher?: Watcher | undefined;
    /** Kernels that it has not. */
    readonly lacks?: readonly KernelName[];
}
export declare class RemoteBackend implements Backend {
    #private;
    readonly name: string;
    readonly deviceType: string;
    readonly deviceIndex: number;
    readonly description = "a device for tests, which works later";
    readonly allocator: RemoteAllocator;
    /** @param host whose kernels do the work. */
    constructor(host: Backend, { type, index, memory, watcher, lacks }?: RemoteOptions);
    /** How often the host has waited for it. */
    get waits(): number;
    kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined;
    elementwise(program: ScalarProgram): Kernel;
    prepare(plan: Plan): Executable;
    threads(): number;
}
/** Two such devices, `/remote:0` and `/remote:1`, behind all other backends. */
export declare const remotes: readonly RemoteBackend[];
export {};
