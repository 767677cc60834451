import fc from 'fast-check';
import { PlainPattern } from './plain-pattern.js';
import { RealmLinkifiers } from './realm-linkifiers.js';

describe('PlainPattern', () => {
  it('caches a pattern until thousands of others follow', () => {
    const first = PlainPattern.of('FIRST-[0-9]+');
    expect(PlainPattern.of('FIRST-[0-9]+')).toBe(first);
    for (let n = 0; n < 5000; n++) PlainPattern.of(`P${n}-[0-9]+`);
    expect(PlainPattern.of('FIRST-[0-9]+')).not.toBe(first);
    expect(PlainPattern.of('FIRST-[0-9]+')).toEqual(first);
  });

  it.each`
    pattern                                             | literal
    ${'#(?P<id>[0-9]+)'}                                | ${'#'}
    ${'ZUL-(?P<id>\\d{2,7})'}                           | ${'ZUL-'}
    ${'(?P<org>[a-z-]+)/(?P<repo>[\\w-]+)#(?P<n>\\d+)'} | ${'/'}
    ${'(?P<id>[0-9a-f]{7,40})'}                         | ${''}
    ${'(?:RT)?#?(?P<id>[0-9]{3})'}                      | ${null}
    ${'RT#?(?P<id>[0-9]{3})'}                           | ${'RT'}
    ${'v(?P<version>[0-9.]*)-rc'}                       | ${'-rc'}
    ${'\\(c\\)(?P<rest>.+)'}                            | ${'(c)'}
    ${'[^ ]+@[^ ]+'}                                    | ${null}
    ${'[^ @]+@[^ ]+'}                                   | ${'@'}
    ${'(?P<id>[a-z]+)[a-z]'}                            | ${null}
    ${'a|b'}                                            | ${null}
    ${'(?i)a'}                                          | ${null}
    ${'a+?'}                                            | ${null}
    ${'(ab)+'}                                          | ${null}
    ${'\\ba'}                                           | ${null}
    ${'^a'}                                             | ${null}
    ${'ü'}                                              | ${null}
    ${'[[:alpha:]]'}                                    | ${null}
    ${'[0-9]*'}                                         | ${null}
    ${'(a'}                                             | ${null}
    ${'a)'}                                             | ${null}
    ${'(?P<a>x)(?P<a>y)'}                               | ${null}
    ${''}                                               | ${null}
    ${'a'.repeat(101)}                                  | ${null}
  `('recognizes $pattern as plain with the literal $literal, or rejects it', ({ pattern, literal }) => {
    expect(PlainPattern.of(pattern)?.literal ?? null).toBe(literal);
  });

  const character = fc.constantFrom(
    'a',
    'b',
    '0',
    '#',
    '-',
    ',',
    '_',
    '\\.',
    '\\#',
    '.',
    '\\d',
    '\\w',
    '\\s',
    '\\D',
    '\\W',
    '\\S',
  );
  const inside = fc.array(fc.constantFrom('a', 'b', '0', '_', 'a-z', '0-9', '\\d', '\\w', '\\s', ',', '\\-'), {
    minLength: 1,
    maxLength: 3,
  });
  const characters = fc.oneof(
    character,
    inside.map((parts) => `[${parts.join('')}]`),
    inside.map((parts) => `[^${parts.join('')}]`),
  );
  const times = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{2,}', '{0,1}');
  const part = fc.tuple(characters, times).map((both) => both.join(''));
  const pattern = fc
    .tuple(
      fc.array(part, { maxLength: 3 }),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.array(part, { maxLength: 2 }),
    )
    .map(([before, group, after]) => `${before.join('')}(?P<id>${group.join('')})${after.join('')}`);
  const text = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        'z',
        '0',
        '#',
        '-',
        ',',
        '_',
        '.',
        ' ',
        '\n',
        '\u00a0',
        '\u0085',
        '\u000b',
        'é',
        '😀',
        '𝒜',
        '\u2028',
        '(',
      ),
      { maxLength: 14 },
    )
    .map((pieces) => pieces.join(''));

  it('finds the same matches as an engine', () => {
    let compared = 0;
    const found = (rule: string, content: string) => {
      const rules = [{ pattern: rule, urlTemplate: '{id}' }];
      const [search] = new RealmLinkifiers(rules).searches(content);
      return (search?.(content) ?? []).map(({ start, end, urlWith }) => [start, end, urlWith((part) => part)]);
    };
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (rule, contents) => {
        fc.pre(PlainPattern.of(rule) !== null);
        compared++;
        for (const content of contents) expect(found(rule, content)).toEqual(found(`${rule}|never`, content));
      }),
      { numRuns: 400, maxSkipsPerRun: 50 },
    );
    expect(compared).toBeGreaterThanOrEqual(400);
  });
});
