import { findGifs, gifsUrl, PAGE_SIZE, parseGifs } from './giphy.js';

const MEDIA = 'https://media1.giphy.com/media/dog/200.gif';
const gif = (change: object = {}) => ({
  id: 'dog',
  title: 'A dog',
  images: { downsized_medium: { url: MEDIA }, fixed_height_small: { url: MEDIA }, ...change },
});

describe('parseGifs', () => {
  it('reads id, title and images', () => {
    const still = 'https://media1.giphy.com/media/dog/still.gif';
    const images = { original: { url: MEDIA }, fixed_height: { url: MEDIA }, fixed_height_small_still: { url: still } };
    const read = { id: 'dog', title: 'A dog', url: MEDIA, previewUrl: MEDIA };
    expect(parseGifs({ data: [{ ...gif(), images }] })).toEqual([{ ...read, stillUrl: still }]);
    expect(parseGifs({ data: [gif()] })).toEqual([{ ...read, stillUrl: null }]);
  });

  it.each([null, 'text', [], {}, { data: null }, { data: {} }])('returns null for the response %j', (response) => {
    expect(parseGifs(response)).toBeNull();
  });

  it.each([null, 7, {}, { ...gif(), id: 7 }, { ...gif(), images: null }, gif({ fixed_height_small: { url: 7 } })])(
    'skips the malformed entry %j',
    (entry) => {
      expect(parseGifs({ data: [entry, gif()] })).toHaveLength(1);
    },
  );

  it.each([
    'http://media.giphy.com/a.gif',
    'https://media.giphy.com.example.com/a.gif',
    'https://notgiphy.com/a.gif',
    'https://user:password@media.giphy.com/a.gif',
    'https://media.giphy.com:8080/a.gif',
    'javascript:alert(1)//giphy.com',
    '/a.gif',
  ])('skips GIFs with the address %s', (url) => {
    expect(parseGifs({ data: [gif({ downsized_medium: { url } })] })).toEqual([]);
    expect(parseGifs({ data: [gif({ fixed_height_small: { url } })] })).toEqual([]);
  });

  it('escapes parentheses, which would end a Markdown link', () => {
    const [parsed] = parseGifs({ data: [gif({ downsized_medium: { url: 'https://giphy.com/a(1).gif' } })] })!;
    expect(parsed!.url).toBe('https://giphy.com/a%281%29.gif');
  });

  it('shortens titles, and puts them in one line', () => {
    const [parsed] = parseGifs({ data: [{ ...gif(), title: ` A\n\ndog ${'!'.repeat(200)}` }] })!;
    expect(parsed!.title).toMatch(/^A dog !{94}$/);
    expect(parseGifs({ data: [{ ...gif(), title: 7 }] })![0]!.title).toBe('');
  });

  it('returns each GIF once, and at most a page', () => {
    expect(parseGifs({ data: [gif(), gif()] })).toHaveLength(1);
    const many = Array.from({ length: 100 }, (_, index) => ({ ...gif(), id: String(index) }));
    expect(parseGifs({ data: many })).toHaveLength(PAGE_SIZE);
  });
});

describe('gifsUrl', () => {
  const request = { key: 'key', policy: 4, language: 'pt-br', query: '', offset: 24 };

  it('requests trending GIFs for an empty search', () => {
    expect(gifsUrl(request)).toBe('https://api.giphy.com/v1/gifs/trending?api_key=key&rating=pg-13&limit=24&offset=24');
  });

  it('searches in the language of the page, with at most 50 characters', () => {
    const { pathname, searchParams } = new URL(gifsUrl({ ...request, query: `a&b${'😀'.repeat(60)}` }));
    expect(pathname).toBe('/v1/gifs/search');
    expect(searchParams.get('lang')).toBe('pt');
    expect(searchParams.get('q')).toBe(`a&b${'😀'.repeat(47)}`);
    expect(new URL(gifsUrl({ ...request, query: 'a', language: 'zh-hans' })).searchParams.get('lang')).toBe('zh-CN');
  });

  it.each([
    [1, 'y'],
    [2, 'g'],
    [3, 'pg'],
    [4, 'pg-13'],
    [5, 'r'],
  ])('maps the rating policy %i to %s', (policy, rating) => {
    expect(new URL(gifsUrl({ ...request, policy })).searchParams.get('rating')).toBe(rating);
  });
});

describe('findGifs', () => {
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('fails if GIPHY does not respond within 15 seconds', async () => {
    jest.useFakeTimers();
    jest
      .spyOn(globalThis, 'fetch')
      .mockImplementation(
        (_, init) =>
          new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason))),
      );
    const request = { key: 'k', policy: 2, language: 'en', query: 'dog', offset: 0 };
    const found = expect(findGifs(request, new AbortController().signal)).rejects.toThrow(/abort/);
    jest.advanceTimersByTime(15_000);
    await found;
  });
});
