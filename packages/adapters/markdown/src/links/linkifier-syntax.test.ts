import { workMsOf } from '@parley/testkit/process-usage';
import { literalPrefix } from './engine-linkifier.js';
import { re2LinkifierSyntax } from './linkifier-syntax.js';
import { RealmLinkifiers } from './realm-linkifiers.js';

describe('URL template', () => {
  it.each`
    template             | variables
    ${'https://x/{foo}'} | ${['foo']}
    ${'{/a,b}'}          | ${['a', 'b']}
    ${'{.d}'}            | ${['d']}
    ${'{?a,b}{&c}{;d}'}  | ${['a', 'b', 'c', 'd']}
    ${'{#f:5}'}          | ${['f']}
    ${'{+a,b}'}          | ${['a', 'b']}
    ${'{?foo*}'}         | ${['foo']}
    ${'{a.b}{c_1}'}      | ${['a.b', 'c_1']}
    ${'%ba'}             | ${[]}
    ${'%%(foo)s'}        | ${[]}
    ${'$fgfg'}           | ${[]}
    ${''}                | ${[]}
  `('$template has the variables $variables', ({ template, variables }) => {
    expect([...re2LinkifierSyntax.templateVariables(template)!]).toEqual(variables);
  });

  it.each([
    'https://x/{foo',
    'https://x/{{}',
    '{//foo}',
    '{bar++}',
    '{id',
    '}',
    '{}',
    '{a,}',
    '{a b}',
    '{=a}',
    '{a:0}',
  ])('rejects %s', (template) => {
    expect(re2LinkifierSyntax.templateVariables(template)).toBeNull();
  });
});

describe('linkifier pattern', () => {
  it.each`
    pattern                  | problem
    ${'(foo'}                | ${'missing ): (foo'}
    ${'[a'}                  | ${'missing ]: [a'}
    ${'ZUL-(?P<id>\\d????)'} | ${'bad repetition operator: ????'}
    ${'*a'}                  | ${'no argument for repetition operator: *'}
    ${'(?=x)(?P<id>\\d+)'}   | ${'invalid perl operator: (?='}
    ${'(a)\\1'}              | ${'invalid escape sequence: \\1'}
    ${'a{1001}'}             | ${'invalid repetition size: {1001}'}
    ${'(?P<a'}               | ${'invalid named capture group: (?P<a'}
    ${'a\\'}                 | ${'trailing \\'}
  `('rejects $pattern: $problem', ({ pattern, problem }) => {
    expect(re2LinkifierSyntax.compile(pattern)).toEqual({ problem });
  });

  it('is rejected if it uses a reserved group name', () => {
    expect(re2LinkifierSyntax.compile('(?P<linkifier_actual_match>a)')).toEqual({
      problem: 'duplicate capture group name: linkifier_actual_match',
    });
  });

  it('reports the content of its groups anywhere in a text', () => {
    const compiled = re2LinkifierSyntax.compile('(?P<a>x+)|(?P<b>y)(z)');
    if ('problem' in compiled) throw new Error(compiled.problem);
    expect(compiled.groups).toEqual(['a', 'b']);
    expect(compiled.find('-xx-')).toEqual({ a: 'xx', b: null });
    expect(compiled.find('-yz')).toEqual({ a: null, b: 'y' });
    expect(compiled.find('-')).toBeNull();
  });
});

describe('literalPrefix', () => {
  it.each`
    pattern                  | prefix
    ${'#(?P<id>[0-9]{2,8})'} | ${'#'}
    ${'ZUL-(?P<id>\\d+)'}    | ${'ZUL-'}
    ${'a\\.b\\d'}            | ${'a.b'}
    ${'ab?'}                 | ${'a'}
    ${'ab*'}                 | ${'a'}
    ${'ab{0}'}               | ${'a'}
    ${'ab+'}                 | ${'ab'}
    ${'a\\.?b'}              | ${'a'}
    ${'ab|c'}                | ${''}
    ${'(?i)ab'}              | ${''}
    ${'^ab'}                 | ${''}
    ${'[ab]c'}               | ${''}
    ${'ü-.'}                 | ${'ü-'}
    ${'😀?a'}                | ${''}
  `('returns the prefix $prefix for $pattern', ({ pattern, prefix }) => {
    expect(literalPrefix(pattern)).toBe(prefix);
  });

  it('does not change the matches', () => {
    const texts = ['#1 x#2 (#3) #4a #5_x\n#6', 'ü#1 #2ü #3', '##1 # #2', '#1#2 #3,#4', '#12', ''];
    const found = (pattern: string) =>
      texts.map((text) => {
        const [search] = new RealmLinkifiers([{ pattern, urlTemplate: 'https://a/{id}' }]).searches(text);
        return (search?.(text) ?? []).map(({ start, end, urlWith }) => [start, end, urlWith((part) => part)]);
      });
    // An alternation has no prefix.
    expect(found('#(?P<id>[0-9]+)')).toEqual(found('#(?P<id>[0-9]+)|never'));
    expect(found('#(?P<id>[0-9]+)')[0]).toHaveLength(4);
    expect(found('#(?P<id>[0-9]+)')[1]).toHaveLength(1);
  });
});

describe('compilation time', () => {
  // Maximum time of any request without a turn of the event loop.
  const LIMIT_MS = 100;
  it.each([
    ['large classes repeated often', '[\\pL\\pN]{900}'.repeat(65)],
    ['negated classes', '[^\\pL]{999}[^\\pN]{999}[\\s\\pZ]{999}'.repeat(20)],
    ['classes in any case', `(?i)${'\\pL\\PN'.repeat(160)}`],
    ['deep nesting', `${'('.repeat(480)}a${')'.repeat(480)}`],
  ])('stays within one turn of the event loop for %s', async (_, pattern) => {
    const work = () => re2LinkifierSyntax.compile(pattern);
    expect(await workMsOf(work, LIMIT_MS)).toBeLessThan(LIMIT_MS);
  });
});
