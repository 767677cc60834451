import { circlesOf, countLines, countRepeated, measures } from './measures.js';

/** Limits of the measures. A limit is raised only with a reason in the commit. */
const LIMITS: Readonly<Record<string, number>> = {
  'places that name one feature': 3,
  '% of import and export lines': 9.1,
  '% of lines that stand elsewhere too': 0.7,
  '% of comments in stiff English': 0.4,
  'domain folders': 15,
  'arrows between domain folders': 97,
  'upward arrows between domain folders': 0,
  'folders in circles: blobs': 0,
  'folders in circles: bus-nats': 0,
  'folders in circles: chat': 0,
  'folders in circles: client': 0,
  'folders in circles: create-parley': 0,
  'folders in circles: domain': 0,
  'folders in circles: export-files': 0,
  'folders in circles: http': 0,
  'folders in circles: images': 0,
  'folders in circles: import-plan': 0,
  'folders in circles: import-readers': 0,
  'folders in circles: markdown': 0,
  'folders in circles: node-adapters': 0,
  'folders in circles: parley': 0,
  'folders in circles: postgres': 0,
  'folders in circles: push-service': 0,
  'folders in circles: server': 0,
  'folders in circles: simulator': 0,
  'folders in circles: sqlite': 0,
  'folders in circles: storage': 0,
  'folders in circles: transfer': 0,
  'folders in circles: web': 0,
  'lines: blobs': 857,
  'lines: bus-nats': 250,
  'lines: chat': 6240,
  'lines: client': 850,
  'lines: create-parley': 164,
  'lines: domain': 47_242,
  'lines: export-files': 3334,
  'lines: http': 26_731,
  'lines: images': 1080,
  'lines: import-plan': 4030,
  'lines: import-readers': 5430,
  'lines: markdown': 5770,
  'lines: node-adapters': 4847,
  'lines: parley': 270,
  'lines: postgres': 4392,
  'lines: push-service': 750,
  'lines: server': 18_355,
  'lines: simulator': 5203,
  'lines: sqlite': 4965,
  'lines: storage': 13_317,
  'lines: transfer': 5839,
  'lines: web': 26_059,
  'lines of tests and tools': 166_977,
  'words of documents': 205_400,
  'files above 450 lines': 0,
};

describe('repository structure', () => {
  const all = measures();

  it('has a limit for every measure', () => {
    expect(all.map(({ name }) => name)).toEqual(Object.keys(LIMITS));
  });

  it.each(all)('$name keeps its limit', ({ name, value, details }) => {
    const limit = LIMITS[name] ?? 0;
    expect(value <= limit ? 'kept' : { value, limit, details }).toBe('kept');
  });
});

describe('measures module', () => {
  it('counts lines without blanks and comments, and counts imports among them', () => {
    const code =
      "import {\n  a,\n} from './a.js';\n\n/**\n * Text\n */\n// Text\nexport { b } from './b.js';\nexport const c = a; // Text\n";
    expect(countLines(code)).toEqual({ lines: 5, importLines: 4 });
  });

  it('counts the lines of passages that stand in two places', () => {
    const passage = ['a();', 'b();', '', '// Text', 'c();', 'd();', 'e();', 'f();', 'g();'].join('\n');
    expect(countRepeated([`first();\n${passage}\nlast();`, `${passage}\nother();`])).toBe(14);
    expect(countRepeated([passage, passage.replace('d();', 'x();')])).toBe(0);
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
