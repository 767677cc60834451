import { releaseMemory } from './create-demo.js';

describe('releaseMemory', () => {
  it('collects what nobody refers to any more', async () => {
    const reference = new WeakRef({ some: 'garbage' });
    // A weak reference holds its target until the task that made it has ended.
    await new Promise((resolve) => setTimeout(resolve));
    await releaseMemory();
    expect(reference.deref()).toBeUndefined();
  });
});
