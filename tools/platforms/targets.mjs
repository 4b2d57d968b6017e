// The platforms that there is a package with native kernels for (native/platforms/), by the ends of the packages' names. What zig calls a
// platform ends in the oldest system that its addons run on: glibc 2.28, macOS 11.
export const targets = {
  'linux-x64': { zig: 'x86_64-linux-gnu.2.28', os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-arm64': { zig: 'aarch64-linux-gnu.2.28', os: 'linux', cpu: 'arm64', libc: 'glibc' },
  'linuxmusl-x64': { zig: 'x86_64-linux-musl', os: 'linux', cpu: 'x64', libc: 'musl' },
  'linuxmusl-arm64': { zig: 'aarch64-linux-musl', os: 'linux', cpu: 'arm64', libc: 'musl' },
  'darwin-arm64': { zig: 'aarch64-macos.11.0', os: 'darwin', cpu: 'arm64' },
  'darwin-x64': { zig: 'x86_64-macos.11.0', os: 'darwin', cpu: 'x64' },
  'win32-x64': { zig: 'x86_64-windows-gnu', os: 'win32', cpu: 'x64' },
};

/** The platform that this process runs on; undefined where there is no package for it. */
export const own = Object.keys(targets).find((name) => {
  const { os, cpu, libc } = targets[name];
  return os === process.platform && cpu === process.arch && (libc === undefined || libc === libcHere());
});

function libcHere() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

/** @returns the platforms that a text names: one, or `all`; undefined where it names none. */
export function targetsNamed(text) {
  if (text === 'all') return Object.keys(targets);
  return Object.hasOwn(targets, text) ? [text] : undefined;
}
