import { EncodedTexts } from '../caching/encoded-texts.js';
import { encodedList, PresentedList, PresentedText, SharedList, writeSections } from './json-lists.js';

function written(...sections: (() => object)[]): { text: string; steps: number } {
  const work = writeSections(sections as (() => Record<string, unknown>)[]);
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next();
    if (done) return { text: `{${value.map(String).join('')}}`, steps };
  }
}

describe('the text of sections', () => {
  it('is what JSON.stringify makes of all their fields, in their order', () => {
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

  it.each([0, 1, 19, 20, 21, 100])(
    'has a list of %d elements as it is presented, a step for every twenty',
    (length) => {
      const numbers = Array.from({ length }, (_, n) => n);
      const present = (n: number) => (n % 7 === 3 ? undefined : { n });
      const { text, steps } = written(() => ({ list: new PresentedList(numbers, present), end: true }));
      expect(text).toBe(JSON.stringify({ list: numbers.map(present), end: true }));
      expect(steps).toBe(Math.ceil(length / 20) + 2);
    },
  );

  it('has text that was presented before as it is', () => {
    expect(written(() => ({ users: new PresentedText('[{"id":1}]') })).text).toBe('{"users":[{"id":1}]}');
  });

  describe('of elements that many are sent', () => {
    const texts = Array.from({ length: 120 }, (_, n) => new PresentedText(`{"n":"${n} é"}`));
    const parsed = texts.map(({ json }) => JSON.parse(json));
    const chunksOf = (elements: readonly PresentedText[], encoded: EncodedTexts) => {
      const work = writeSections([() => ({ list: new SharedList(elements, (text) => text, encoded), end: 1 })]);
      for (;;) {
        const { done, value } = work.next();
        if (done) return value;
      }
    };

    it.each([0, 1, 49, 50, 51, 120])('has a list of %d of them, whole', (length) => {
      const encoded = new EncodedTexts(undefined, ',');
      const elements = texts.slice(0, length);
      expect(JSON.parse(`{${chunksOf(elements, encoded).map(String).join('')}}`)).toEqual({
        list: parsed.slice(0, length),
        end: 1,
      });
      const { chunks } = encodedList(
        elements.map(({ json }) => json),
        encoded,
      );
      expect(JSON.parse(chunks.map(String).join(''))).toEqual(parsed.slice(0, length));
    });

    it('encodes neighbours once for everybody, and anew where one of them is another', () => {
      const encoded = new EncodedTexts(undefined, ',');
      const bytes = (elements: readonly PresentedText[]) => chunksOf(elements, encoded).filter(Buffer.isBuffer);
      const [first, second] = bytes(texts);
      expect(bytes(texts).map((chunk, n) => chunk === [first, second][n])).toEqual([true, true]);
      const changed = texts.with(60, new PresentedText('{"n":"other"}'));
      const [same, anew] = bytes(changed);
      expect([same === first, String(anew).includes('"other"')]).toEqual([true, true]);
    });
  });

  it('presents a section only when those before it are written', () => {
    const order: string[] = [];
    const section = (name: string) => () => {
      order.push(name);
      return { [name]: new PresentedList([1], () => order.push(`${name} list`)) };
    };
    written(section('a'), section('b'));
    expect(order).toEqual(['a', 'a list', 'b', 'b list']);
  });
});
