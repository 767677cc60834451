import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { containsWords } from '@parley/domain/messages';
import { searchedWords, searchTerms } from './search-terms.js';
import { SearchLanguages } from './word-forms.js';

interface Query {
  readonly language: string;
  readonly rule: string;
  readonly text: string;
  readonly expected: ReadonlySet<string>;
}

const documents = new Map<
  string,
  { readonly language: string; readonly text: string; readonly terms: ReadonlySet<string> }
>();
const queries: Query[] = [];

function readEvaluation(file: string): void {
  let language = '';
  for (const line of readFileSync(join(__dirname, '../fixtures', file), 'utf8').split('\n')) {
    const [, heading] = /^== (.*)$/.exec(line) ?? [];
    const [, number, text] = /^(\d+) (.*)$/.exec(line) ?? [];
    const [, rule, query, numbers] = /^(\w+): (.*) => ([\d -]+)$/.exec(line) ?? [];
    if (heading) language = `${heading} (${file})`;
    else if (number)
      documents.set(`${language} ${number}`, { language, text: text!, terms: new Set(searchTerms(text!)) });
    else if (rule) {
      const expected = numbers === '-' ? [] : numbers!.split(' ').map((each) => `${language} ${each}`);
      queries.push({ language, rule, text: query!, expected: new Set(expected) });
    }
  }
}
for (const file of ['search-evaluation.txt', 'search-evaluation-2.txt', 'search-evaluation-3.txt'])
  readEvaluation(file);

/** Returns the names of the matching documents in the query's language. */
function find({ language, text }: Query): readonly string[] {
  const words = searchedWords(text);
  if (words.length === 0) return [];
  return [...documents]
    .filter(([, document]) => document.language === language)
    .filter(([, { terms }]) => containsWords(terms, words))
    .map(([name]) => name);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('search evaluation', () => {
  it('contains at least 1,900 queries in 60 sections that refer to existing documents', () => {
    expect(new Set(queries.map(({ language }) => language)).size).toBeGreaterThanOrEqual(60);
    expect(queries.length).toBeGreaterThanOrEqual(1900);
    for (const { expected } of queries) for (const name of expected) expect(documents.has(name)).toBe(true);
  });

  it('finds the same with only the wanted terms of each text', () => {
    const different = queries.flatMap((query) => {
      const words = searchedWords(query.text);
      const inLanguage = [...documents].filter(([, { language }]) => language === query.language);
      return inLanguage
        .filter(([, { text, terms }]) => {
          const some = new Set(searchTerms(text, undefined, words.flat(2)));
          return containsWords(terms, words) !== containsWords(some, words);
        })
        .map(([name]) => `${query.text} ${name}`);
    });
    expect(different).toEqual([]);
  });

  it('finds what people expect', () => {
    const results = queries.map((query) => {
      const found = find(query);
      const hits = found.filter((name) => query.expected.has(name)).length;
      return {
        query: `${query.language}, ${query.rule}: ${query.text}`,
        recall: query.expected.size === 0 ? 1 : hits / query.expected.size,
        precision: found.length === 0 ? 1 : hits / found.length,
      };
    });
    const wrong = results.filter(({ recall, precision }) => recall < 1 || precision < 1);
    const recall = mean(results.map((each) => each.recall));
    const precision = mean(results.map((each) => each.precision));
    // Names the queries to look at.
    expect(recall >= 0.985 && precision >= 0.985 ? [] : wrong).toEqual([]);
  });
});

/** Pairs of words by heading and language, such as `cs: kniha knize | ruka ruce`. */
function readPairs(): ReadonlyMap<string, ReadonlyMap<string, readonly (readonly [string, string])[]>> {
  const pairs = new Map<string, Map<string, (readonly [string, string])[]>>();
  for (const section of readFileSync(join(__dirname, '../fixtures/search-inflections.txt'), 'utf8')
    .split('== ')
    .slice(1)) {
    const [heading, ...lines] = section.trim().split('\n');
    const languages = lines.map((line) => {
      const [code, words] = line.split(': ') as [string, string];
      return [code, words.split(' | ').map((pair) => pair.split(' ') as [string, string])] as const;
    });
    pairs.set(heading!, new Map(languages));
  }
  return pairs;
}

describe('inflections in a listed language', () => {
  const pairs = readPairs();
  const foundIn = (heading: string, code: string) =>
    pairs
      .get(heading)!
      .get(code)!
      .filter(([query, text]) => {
        const terms = new Set(searchTerms(text, new SearchLanguages(code)));
        return containsWords(terms, searchedWords(`${query} `));
      });
  const cases = (heading: string) => [...pairs.get(heading)!].map(([code, { length }]) => [code, length] as const);

  it.each(cases('forms of one word'))(
    'are found in %s, except a tenth, or a quarter of German compounds',
    (code, count) => {
      expect(foundIn('forms of one word', code).length).toBeGreaterThanOrEqual(count * (code === 'de' ? 0.75 : 0.88));
    },
  );

  it('are at most a quarter of similar but different words', () => {
    const found = cases('different words').flatMap(([code]) => foundIn('different words', code));
    const total = cases('different words').reduce((sum, [, count]) => sum + count, 0);
    expect(found.length).toBeLessThanOrEqual(total / 4);
  });
});
