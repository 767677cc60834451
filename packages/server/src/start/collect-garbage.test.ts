import { collectGarbage } from './collect-garbage.js';

describe('collectGarbage', () => {
  it('collects unreferenced objects', async () => {
    const reference = new WeakRef({ some: 'garbage' });
    // A weak reference keeps its target alive until the current task ends.
    await new Promise((resolve) => setTimeout(resolve));
    await collectGarbage();
    expect(reference.deref()).toBeUndefined();
  });
});
