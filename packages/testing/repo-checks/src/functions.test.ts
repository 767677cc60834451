import { functionsOf } from './functions.js';
import { productSources } from './measures.js';
import { shownPath } from './source-code.js';

const MAX_LINES = 80;
/** Maximum for functions and constructors. Dependencies that serve one idea are a class, such as `Passwords`. */
const MAX_PARAMETERS = 6;

const STATEMENTS = 'prepares one statement per assignment, without a decision';

/** Reasons by file and function. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'http/src/transport/multipart.ts readMultipart':
    'handlers of one parser, which share the state of the body and its failure',
  'storage/src/channels/channels.ts constructor': STATEMENTS,
  'storage/src/files/files.ts constructor': STATEMENTS,
  'storage/src/groups/groups.ts constructor': STATEMENTS,
  'storage/src/users/users.ts constructor': STATEMENTS,
  'transfer/src/imports/import-ports.ts constructor': 'ports that all imports pass on, as one object',
};

const tooLarge = productSources().flatMap(({ file, text }) =>
  functionsOf(text)
    .filter(({ lines, parameters, isList }) => (lines > MAX_LINES && !isList) || parameters > MAX_PARAMETERS)
    .map(({ name, lines, parameters }) => ({
      place: `${shownPath(file)} ${name}`,
      size: `${lines} lines, ${parameters} parameters`,
    })),
);

describe('functions of the product', () => {
  it(`have at most ${MAX_LINES} lines, unless they only return a list, and ${MAX_PARAMETERS} parameters`, () => {
    expect(
      tooLarge.filter(({ place }) => !(place in EXCEPTIONS)).map(({ place, size }) => `${place}: ${size}`),
    ).toEqual([]);
  });

  it('have no exception that is no longer needed', () => {
    const places = new Set(tooLarge.map(({ place }) => place));
    expect(Object.keys(EXCEPTIONS).filter((place) => !places.has(place))).toEqual([]);
  });
});

describe('functionsOf', () => {
  it.each([
    ['a declaration', 'function a(b, c) {\n  // ä\n\n  return b;\n}', { name: 'a', lines: 3, parameters: 2 }],
    ['an arrow function', '/** ä */\nconst a = (b) =>\n  b;', { name: 'a', lines: 2, parameters: 1 }],
    ['a component', 'const A = memo(function B() {\n  return <p />;\n});', { name: 'B', lines: 3, parameters: 0 }],
    ['a method', 'class A {\n  async b(c) {\n    await c;\n  }\n}', { name: 'b', lines: 3, parameters: 1 }],
    ['a method of an object', 'const a = {\n  b(c) {\n  },\n};', { name: 'b', lines: 2, parameters: 1 }],
    [
      'a constructor',
      'class A {\n  constructor(b, private readonly c) {}\n}',
      { name: 'constructor', lines: 1, parameters: 2 },
    ],
  ])('measures %s', (_what, code, measured) => {
    expect(functionsOf(code)).toMatchObject([measured]);
  });

  it.each([
    ['an arrow function that returns a list', 'const routes = (a) => [\n  route(a),\n];', true],
    ['a function that only returns a list', 'function routes(a) {\n  return [\n    route(a),\n  ];\n}', true],
    ['a function with another statement', 'function routes(a) {\n  prepare(a);\n  return [];\n}', false],
    ['a function that returns something else', 'const routes = (a) => route(a);', false],
  ])('recognizes lists: %s', (_what, code, isList) => {
    expect(functionsOf(code)).toMatchObject([{ isList }]);
  });

  it('measures functions inside functions', () => {
    expect(functionsOf('function a() {\n  return () => 1;\n}').map(({ lines }) => lines)).toEqual([3, 1]);
  });
});
