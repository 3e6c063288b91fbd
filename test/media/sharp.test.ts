import Module from 'node:module';
import { expect, it } from '@jest/globals';

it('loads the image library again after it could not be loaded', async () => {
  const { require: original } = Module.prototype;
  let failures = 0;
  Module.prototype.require = function (this: Module, id: string) {
    if (id !== 'sharp' || failures > 0) return original.call(this, id);
    failures += 1;
    throw new Error('EMFILE: too many open files');
  };
  try {
    // Other tests may have loaded it already.
    const { imageLibrary }: typeof import('../../src/media/sharp.ts') = await import(`../../src/media/sharp.ts${'?anew'}`);
    await expect(imageLibrary()).rejects.toThrow('EMFILE');
    expect((await imageLibrary()).versions).toBeDefined();
  } finally {
    Module.prototype.require = original;
  }
});
