import { type JsonElement, jsonElements, jsonLines } from './json-elements.js';

async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(elements: AsyncIterable<JsonElement>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const element of elements) {
    found.push('damage' in element ? [element.line, element.damage, element.text] : [element.line, element.value]);
  }
  return found;
}

describe('jsonElements', () => {
  const TEXT = '\ufeff[\n {"a": "]},\\"[{é"},\n 2,\n [[3], {}] ,null\n]\n';

  it.each([1, 2, 7, 1000])('splits an array in chunks of %i bytes', async (size) => {
    expect(await read(jsonElements(chunksOf(TEXT, size), 'x.json'))).toEqual([
      [2, { a: ']},"[{é' }],
      [3, 2],
      [4, [[3], {}]],
      [4, null],
    ]);
  });

  it('continues after an element with an open string', async () => {
    const text = '[\n{\n"a": "b,\n"c": 1\n},\n{\n"a": "d\\\n},\n{\n"a": 2\n}\n]';
    expect(await read(jsonElements(chunksOf(text, 3), 'x.json'))).toEqual([
      [2, 'is not valid JSON', '\n{\n"a": "b,\n"c": 1\n}'],
      [6, 'is not valid JSON', '\n{\n"a": "d\\\n}'],
      [9, { a: 2 }],
    ]);
  });

  it('continues after a string that contains a line feed', async () => {
    const text = '[\n{"a": "b\nc"},\n{"a": 2}\n]';
    expect(await read(jsonElements(chunksOf(text, 3), 'x.json'))).toEqual([
      [2, 'is not valid JSON', '\n{"a": "b\nc"}'],
      [4, { a: 2 }],
    ]);
  });

  it.each([
    ['[]', []],
    [' [ ] ', []],
    ['{"a": 1}', [[1, { a: 1 }]]],
    ['"x"', [[1, 'x']]],
    ['', [[1, 'is empty', '']]],
    ['{"a": ', [[1, 'is not valid JSON', '{"a": ']]],
    [
      '[1, {"a": ',
      [
        [1, 1],
        [1, 'ends too early', ' {"a": '],
      ],
    ],
    ['[1', [[1, 'ends too early', '1']]],
    [
      '[1, x, 3]',
      [
        [1, 1],
        [1, 'is not valid JSON', ' x'],
        [1, 3],
      ],
    ],
    [
      '[1]\n2',
      [
        [1, 1],
        [2, 'has text after its end', '\n2'],
      ],
    ],
    [
      '[1, {"a": 2]]',
      [
        [1, 1],
        [1, 'is not valid JSON', ' {"a": 2]'],
      ],
    ],
  ])('reads %j', async (text, elements) => {
    expect(await read(jsonElements(chunksOf(text, 3), 'x.json'))).toEqual(elements);
  });

  it('keeps `__proto__` as an ordinary key, and takes the last of equal keys', async () => {
    const text = '[{"__proto__": {"x": 1}, "a": 1, "a": 2}]';
    const [[, value]] = (await read(jsonElements(chunksOf(text, 9), 'x'))) as [[number, Record<string, unknown>]];
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(value.a).toBe(2);
    expect(value.x).toBeUndefined();
  });

  it('returns elements that are nested too deeply as damaged', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const found = await read(jsonElements(chunksOf(`[1,\n${deep},\n2]`, 1000), 'x.json'));
    expect(found).toEqual([
      [1, 1],
      [2, 'is nested too deeply', `\n${deep}`],
      [3, 2],
    ]);
    expect(await read(jsonLines(chunksOf(deep, 1000), 'x.json'))).toEqual([[1, 'is nested too deeply', deep]]);
  });

  it('rejects elements that are too large, with file and line', async () => {
    const limits = { maxBytes: 1000, maxDepth: 10 };
    const array = jsonElements(chunksOf(`[1,\n"${'x'.repeat(2000)}"]`, 100), 'day.json', limits);
    await expect(read(array)).rejects.toThrow('day.json, line 2: a record is larger than 1000 bytes.');
    const lines = jsonLines(chunksOf(`1\n"${'x'.repeat(2000)}"`, 100), 'import.jsonl', limits);
    await expect(read(lines)).rejects.toThrow('import.jsonl, line 2: a record is larger than 1000 bytes.');
  });

  it('returns the elements before a place that cannot be read', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('[1,\n2');
      throw new Error('bad sector');
    }
    expect(await read(jsonElements(broken(), 'x.json'))).toEqual([
      [1, 1],
      [2, 'cannot be read completely (bad sector)', '\n2'],
    ]);
  });
});

describe('jsonLines', () => {
  it.each([1, 4, 100])('splits lines in chunks of %i bytes', async (size) => {
    const text = '\ufeff{"a": 1}\r\n\n  \n{"b": \n[2]';
    expect(await read(jsonLines(chunksOf(text, size), 'x.jsonl'))).toEqual([
      [1, { a: 1 }],
      [4, 'is not valid JSON', '{"b": '],
      [5, [2]],
    ]);
  });
});
