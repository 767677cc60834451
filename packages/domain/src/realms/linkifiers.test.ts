import type { DomainError } from '../kernel/errors.js';
import {
  checkLinkifier,
  expandReverseTemplate,
  type LinkifierFields,
  type LinkifierSyntax,
  MAX_LINKIFIER_TEXT,
  MAX_LINKIFIERS,
  requireRoomForLinkifiers,
} from './linkifiers.js';

/**
 * Fake syntax with JavaScript patterns, and templates limited to `{name}`. The real syntax is tested next to the
 * renderer.
 */
const syntax: LinkifierSyntax = {
  compile: (pattern) => {
    if (pattern.includes('????')) return { problem: 'bad repetition operator: ????' };
    const expression = new RegExp(pattern.replaceAll('(?P<', '(?<'));
    return {
      groups: [...pattern.matchAll(/\(\?P<(\w+)>/g)].map(([, name]) => name!),
      find: (text) => {
        const match = expression.exec(text);
        return match && { ...(match.groups as Record<string, string>) };
      },
    };
  },
  templateVariables: (template) => {
    if (/\{[^}]*$/.test(template)) return null;
    return new Set([...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!));
  },
};

const linkifierWith = (fields: Partial<LinkifierFields>): LinkifierFields => ({
  pattern: '#(?P<id>[0-9]+)',
  urlTemplate: 'https://example.com/{id}',
  exampleInput: null,
  reverseTemplate: null,
  alternativeUrlTemplates: [],
  ...fields,
});

function errorsOf(fields: Partial<LinkifierFields>, others: readonly LinkifierFields[] = []) {
  try {
    checkLinkifier(linkifierWith(fields), others, syntax);
    return null;
  } catch (error) {
    const { message, details } = error as DomainError<'INVALID_LINKIFIER'>;
    return [message, details.errors];
  }
}

const general = (...texts: readonly string[]) => [texts[0], { general: texts }];

describe('checkLinkifier', () => {
  it('trims fields and converts blank ones to null', () => {
    const fields = { pattern: ' a ', urlTemplate: ' https://a ', exampleInput: ' xax ', reverseTemplate: '  ' };
    expect(checkLinkifier(linkifierWith(fields), [], syntax)).toEqual(
      linkifierWith({ pattern: 'a', urlTemplate: 'https://a', exampleInput: 'xax' }),
    );
  });

  it.each`
    fields                                                               | errors
    ${{ pattern: ' ' }}                                                  | ${['This field cannot be blank.', { pattern: ['This field cannot be blank.'], general: ["Group 'id' in URL template is not present in linkifier pattern."] }]}
    ${{ urlTemplate: '' }}                                               | ${['This field cannot be blank.', { urlTemplate: ['This field cannot be blank.'], general: ["Group 'id' in linkifier pattern is not present in URL template."] }]}
    ${{ pattern: '', urlTemplate: '' }}                                  | ${['This field cannot be blank.', { pattern: ['This field cannot be blank.'], urlTemplate: ['This field cannot be blank.'] }]}
    ${{ urlTemplate: '{id' }}                                            | ${['Invalid URL template.', { urlTemplate: ['Invalid URL template.'] }]}
    ${{ pattern: '????' }}                                               | ${general('Bad regular expression: bad repetition operator: ????')}
    ${{ urlTemplate: '$fgfg' }}                                          | ${general("Group 'id' in linkifier pattern is not present in URL template.")}
    ${{ urlTemplate: '{id}{hello}{abc}' }}                               | ${general("Group 'abc' in URL template is not present in linkifier pattern.")}
    ${{ pattern: '(?P<id>a)(?P<hello>b)', urlTemplate: '{hello}' }}      | ${general("Group 'id' in linkifier pattern is not present in URL template.")}
    ${{ alternativeUrlTemplates: ['{id', 'x'] }}                         | ${general('Invalid URL template.')}
    ${{ alternativeUrlTemplates: ['{no}'] }}                             | ${general("Group 'no' in URL template is not present in linkifier pattern.")}
    ${{ alternativeUrlTemplates: ['x'] }}                                | ${general("Group 'id' in linkifier pattern is not present in URL template.")}
    ${{ reverseTemplate: '#{id}' }}                                      | ${general('Example text is required when auto-conversion field is set.')}
    ${{ exampleInput: 'no digits' }}                                     | ${general('Example input does not match the linkifier pattern.')}
    ${{ exampleInput: '#1234', reverseTemplate: '!{id}' }}               | ${general('Example text does not match auto-conversion field.')}
    ${{ exampleInput: '#1234', reverseTemplate: '#{id' }}                | ${general("Invalid auto-conversion field: missing '}' character.")}
    ${{ exampleInput: '#1234', reverseTemplate: '#{}' }}                 | ${general('Invalid auto-conversion field: empty field name.')}
    ${{ exampleInput: '#1234', reverseTemplate: '#{no}' }}               | ${general("Group 'no' in auto-conversion field is not present in linkifier pattern.")}
    ${{ exampleInput: '#1234', reverseTemplate: '#{id}' }}               | ${null}
    ${{ alternativeUrlTemplates: ['https://a/{id}', 'https://b/{id}'] }} | ${null}
  `('validates $fields: $errors', ({ fields, errors }) => {
    expect(errorsOf(fields)).toEqual(errors);
  });

  it('rejects a duplicate pattern after all other checks', () => {
    const text = 'Realm filter with this Realm and Pattern already exists.';
    expect(errorsOf({}, [linkifierWith({})])).toEqual(general(text));
    expect(errorsOf({ urlTemplate: '$' }, [linkifierWith({})])).toEqual(
      general("Group 'id' in linkifier pattern is not present in URL template.", text),
    );
  });
});

it('expandReverseTemplate unescapes doubled braces', () => {
  expect(expandReverseTemplate('{{{id}}}-}}', { id: 'a' })).toEqual({ text: '{a}-}' });
  expect(expandReverseTemplate('{none}', { none: null })).toEqual({ text: '' });
});

describe('requireRoomForLinkifiers', () => {
  const many = (count: number, fields: Partial<LinkifierFields> = {}) =>
    Array.from({ length: count }, () => linkifierWith(fields));

  it('limits a realm to 1000 linkifiers', () => {
    expect(() => requireRoomForLinkifiers(many(MAX_LINKIFIERS))).not.toThrow();
    expect(() => requireRoomForLinkifiers(many(MAX_LINKIFIERS + 1))).toThrow('Too many linkifiers (limit: 1000).');
  });

  it('limits the total length to 500,000 characters', () => {
    const half = { exampleInput: 'x'.repeat(MAX_LINKIFIER_TEXT / 2), pattern: '', urlTemplate: '' };
    expect(() => requireRoomForLinkifiers(many(2, half))).not.toThrow();
    expect(() => requireRoomForLinkifiers([...many(2, half), linkifierWith({})])).toThrow(/^Linkifiers are too long/);
  });
});
