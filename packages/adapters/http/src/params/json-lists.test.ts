import { EncodedTexts } from '../wire/caches.js';
import { PresentedList, PresentedText, SharedList, writeSections } from './json-lists.js';

function written(...sections: (() => object)[]): { text: string; steps: number } {
  const work = writeSections(sections as (() => Record<string, unknown>)[]);
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next();
    if (done) return { text: `{${value.map(String).join('')}}`, steps };
  }
}

describe('writeSections', () => {
  it('equals JSON.stringify of all fields in order', () => {
    const plain = { b: 1, a: 'é"', absent: undefined, nothing: null, list: [1, undefined] };
    const more = { c: {}, d: [] };
    expect(
      written(
        () => plain,
        () => ({}),
        () => more,
      ).text,
    ).toBe(JSON.stringify({ ...plain, ...more }));
    expect(written().text).toBe('{}');
    expect(
      written(
        () => ({ absent: undefined }),
        () => more,
      ).text,
    ).toBe(JSON.stringify(more));
  });

  it.each([0, 1, 19, 20, 21, 100])('presents a list of %d elements as it is written, in steps of twenty', (length) => {
    const numbers = Array.from({ length }, (_, n) => n);
    const present = (n: number) => (n % 7 === 3 ? undefined : { n });
    const { text, steps } = written(() => ({ list: new PresentedList(numbers, present), end: true }));
    expect(text).toBe(JSON.stringify({ list: numbers.map(present), end: true }));
    expect(steps).toBe(Math.ceil(length / 20) + 2);
  });

  it('includes presented text unchanged', () => {
    expect(written(() => ({ users: new PresentedText('[{"id":1}]') })).text).toBe('{"users":[{"id":1}]}');
  });

  it('merges the fields of several objects, including empty ones', () => {
    const text = new PresentedText('{"a":1}');
    expect(text.with({ b: [2] }).json).toBe('{"a":1,"b":[2]}');
    expect(text.with({}).json).toBe('{"a":1}');
  });

  it('encodes at most two hundred elements together for any ids', () => {
    const elements = Array.from({ length: 1000 }, (_, n) => ({ id: n * 50 + 7 }));
    const work = writeSections([
      () => ({ list: new SharedList(elements, (element) => JSON.stringify(element), new EncodedTexts(',')) }),
    ]);
    let state = work.next();
    while (!state.done) state = work.next();
    const chunks = state.value;
    expect(JSON.parse(`{${chunks.map(String).join('')}}`).list).toHaveLength(1000);
    expect(chunks.filter(Buffer.isBuffer)).toHaveLength(5);
  });

  describe('SharedList', () => {
    interface Element {
      readonly id: number;
      readonly text: string;
    }
    const elementOf = (id: number, word = 'é'): Element => ({ id, text: `{"n":"${id} ${word}"}` });
    /** Deliberately not in id order, like lists sorted by name. */
    const all = Array.from({ length: 1000 }, (_, n) => elementOf((n * 377) % 1000));
    const parsed = (elements: readonly Element[]) => elements.map(({ text }) => JSON.parse(text));
    const newEncoded = () => new EncodedTexts(',');
    const chunksOf = (elements: readonly Element[], encoded: EncodedTexts) => {
      const work = writeSections([() => ({ list: new SharedList(elements, ({ text }) => text, encoded), end: 1 })]);
      for (;;) {
        const { done, value } = work.next();
        if (done) return value;
      }
    };
    const bytesOf = (elements: readonly Element[], encoded: EncodedTexts) =>
      chunksOf(elements, encoded).filter(Buffer.isBuffer);

    it.each([0, 1, 19, 20, 50, 199, 200, 201, 1000])('includes all %d elements', (length) => {
      const encoded = newEncoded();
      const elements = all.slice(0, length);
      expect(JSON.parse(`{${chunksOf(elements, encoded).map(String).join('')}}`)).toEqual({
        list: parsed(elements),
        end: 1,
      });
    });

    it('encodes adjacent elements once for all clients, in short and long lists', () => {
      const encoded = newEncoded();
      const known = new Set(bytesOf(all, encoded));
      expect(bytesOf(all, encoded).filter((bytes) => !known.has(bytes))).toEqual([]);
      const sizes = [...known].map((bytes) => JSON.parse(`[${bytes}]`).length);
      expect([Math.min(...sizes) >= 20, Math.max(...sizes) <= 200]).toEqual([true, true]);
    });

    it.each<[string, readonly Element[]]>([
      ['is another', all.with(500, elementOf(all[500]!.id, 'changed'))],
      ['is new', all.toSpliced(500, 0, elementOf(5001))],
      ['is gone', all.toSpliced(500, 1)],
    ])('re-encodes only one run when an element %s', (_, changed) => {
      const encoded = newEncoded();
      const known = new Set(bytesOf(all, encoded));
      const anew = bytesOf(changed, encoded).filter((bytes) => !known.has(bytes));
      expect(anew.length).toBeLessThanOrEqual(1);
      expect(JSON.parse(`{${chunksOf(changed, encoded).map(String).join('')}}`).list).toEqual(parsed(changed));
    });
  });

  it('presents a section only after the previous ones are written', () => {
    const order: string[] = [];
    const section = (name: string) => () => {
      order.push(name);
      return { [name]: new PresentedList([1], () => order.push(`${name} list`)) };
    };
    written(section('a'), section('b'));
    expect(order).toEqual(['a', 'a list', 'b', 'b list']);
  });
});
