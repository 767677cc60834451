import { PresentedTexts } from './caches.js';

describe('PresentedTexts', () => {
  it('keeps all forms of the same version', () => {
    const texts = new PresentedTexts<string, number>(10_000);
    texts.put('a', 1, 0, 'short');
    texts.put('a', 1, 5, 'long');
    expect(texts.get('a')?.version).toBe(1);
    expect([...texts.get('a')!.forms]).toEqual([
      [0, 'short'],
      [5, 'long'],
    ]);
    expect(texts.get('b')).toBeUndefined();
  });

  it('drops the forms of an earlier version', () => {
    const texts = new PresentedTexts<string, { readonly n: number }>(10_000, (a, b) => a.n === b.n);
    texts.put('a', { n: 1 }, 0, 'old');
    texts.put('a', { n: 2 }, 1, 'new');
    texts.put('a', { n: 2 }, 2, 'new too');
    expect([...texts.get('a')!.forms.keys()]).toEqual([1, 2]);
  });

  it('evicts the least recently used entry when the texts exceed the maximum size', () => {
    const texts = new PresentedTexts<number, number>(10_000);
    for (let id = 0; id < 20; id++) {
      texts.put(id, 1, 0, 'x'.repeat(1000));
      texts.get(0);
    }
    const kept = Array.from({ length: 20 }, (_, id) => id).filter((id) => texts.get(id));
    expect(kept[0]).toBe(0);
    expect(kept.length).toBeLessThan(10);
    expect(kept.at(-1)).toBe(19);
  });
});
