import { releaseMemory } from './release-memory.js';

describe('releaseMemory', () => {
  it('collects unreferenced objects', async () => {
    const reference = new WeakRef({ some: 'garbage' });
    // A weak reference keeps its target alive until the current task ends.
    await new Promise((resolve) => setTimeout(resolve));
    await releaseMemory();
    expect(reference.deref()).toBeUndefined();
  });
});
