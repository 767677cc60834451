import { circlesOf, countLines, measures } from './measures.js';

/** Limits of the measures. A limit is raised only with a reason in the commit. */
const LIMITS: Readonly<Record<string, { readonly max: number } | { readonly min: number }>> = {
  'product lines': { max: 127_000 },
  'product files': { max: 960 },
  'median lines of a file': { min: 80 },
  '% of import and export lines': { max: 9.7 },
  'domain folders': { max: 15 },
  'arrows between domain folders': { max: 80 },
  'upward arrows between domain folders': { max: 0 },
  'folders in circles: blobs': { max: 0 },
  'folders in circles: bus-nats': { max: 0 },
  'folders in circles: chat': { max: 0 },
  'folders in circles: client': { max: 0 },
  'folders in circles: domain': { max: 0 },
  'folders in circles: export-files': { max: 0 },
  'folders in circles: http': { max: 0 },
  'folders in circles: images': { max: 0 },
  'folders in circles: markdown': { max: 0 },
  'folders in circles: node-adapters': { max: 0 },
  'folders in circles: parley': { max: 0 },
  'folders in circles: postgres': { max: 0 },
  'folders in circles: server': { max: 0 },
  'folders in circles: sqlite': { max: 0 },
  'folders in circles: storage': { max: 0 },
  'folders in circles: web': { max: 0 },
  'files above 450 lines': { max: 0 },
  'files above 400 lines': { max: 14 },
  'lines of hand-written documents': { max: 5_610 },
};

describe('the structure of the repository', () => {
  const all = measures();

  it('has a limit for every measure', () => {
    expect(all.map(({ name }) => name)).toEqual(Object.keys(LIMITS));
  });

  it.each(all)('$name keeps its limit', ({ name, value, details }) => {
    const limit = LIMITS[name] ?? { max: 0 };
    const isKept = 'max' in limit ? value <= limit.max : value >= limit.min;
    expect(isKept ? 'kept' : { value, ...limit, details }).toBe('kept');
  });
});

describe('the measures themselves', () => {
  it('counts lines without blanks and comments, and imports among them', () => {
    const code =
      "import {\n  a,\n} from './a.js';\n\n/**\n * Text\n */\n// Text\nexport { b } from './b.js';\nexport const c = a; // Text\n";
    expect(countLines(code)).toEqual({ lines: 5, importLines: 4 });
  });

  it('finds each circle with all of its folders', () => {
    const graph = new Map(
      Object.entries({ a: ['b'], b: ['c'], c: ['b', 'd'], d: ['b'], e: ['f', 'a'], f: ['e'], g: ['a'] }).map(
        ([from, to]) => [from, new Set(to)],
      ),
    );
    expect(circlesOf(graph).map((circle) => [...circle].sort())).toEqual([
      ['b', 'c', 'd'],
      ['e', 'f'],
    ]);
  });
});
