// Lets Dawn find a GPU on machines without one: the software driver that comes with Chromium.
import { existsSync } from 'node:fs';

const folder = [process.env['EAGRE_SWIFTSHADER'], '/usr/lib/chromium'].find(
  (path) => path !== undefined && existsSync(`${path}/vk_swiftshader_icd.json`),
);
/** `RTLD_NOW | RTLD_NODELETE` */
const STAYS = 0x1002;

if (folder !== undefined && process.platform === 'linux') {
  process.env['VK_DRIVER_FILES'] ??= `${folder}/vk_swiftshader_icd.json`;
  process.env['VK_ICD_FILENAMES'] ??= `${folder}/vk_swiftshader_icd.json`;
  try {
    // The loader of Vulkan is found by its name when it is loaded already.
    process.dlopen({ exports: {} }, `${folder}/libvulkan.so.1`, STAYS);
  } catch {
    // It is no addon of Node, but it stays loaded.
  }
}
