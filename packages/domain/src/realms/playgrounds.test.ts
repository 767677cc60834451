import type { DomainError } from '../kernel/errors.js';
import { checkPlayground, MAX_PLAYGROUNDS, type PlaygroundFields } from './playgrounds.js';

const syntax = {
  templateVariables: (template: string) =>
    /\{[^}]*$/.test(template) ? null : new Set([...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)),
};
const playgroundWith = (fields: Partial<PlaygroundFields> = {}): PlaygroundFields => ({
  name: 'Play',
  language: 'Python',
  urlTemplate: 'https://example.com/{code}',
  ...fields,
});

function errorsOf(fields: Partial<PlaygroundFields>, others: readonly PlaygroundFields[] = []) {
  try {
    checkPlayground(playgroundWith(fields), others, syntax);
    return null;
  } catch (error) {
    const refusal = error as DomainError;
    return refusal.is('INVALID_PLAYGROUND') ? refusal.details.errors : refusal.message;
  }
}

const BLANK = ['This field cannot be blank.'];
const MISSING = ['Missing the required variable "code" in the URL template'];

describe('checkPlayground', () => {
  it('trims the fields', () => {
    expect(checkPlayground(playgroundWith({ name: ' Play ', language: ' C++ ' }), [], syntax)).toEqual(
      playgroundWith({ language: 'C++' }),
    );
  });

  it.each`
    fields                                        | errors
    ${{ language: 'Visual Basic .NET/6-7_#' }}    | ${null}
    ${{ name: ' ' }}                              | ${{ name: BLANK }}
    ${{ language: '' }}                           | ${{ language: BLANK }}
    ${{ language: 'a*b' }}                        | ${'Invalid characters in pygments language'}
    ${{ urlTemplate: '' }}                        | ${{ urlTemplate: BLANK, general: MISSING }}
    ${{ urlTemplate: 'https://example.com/{co' }} | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: 'javascript:run({code})' }}  | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: 'Java\tScript:{code}' }}     | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: 'data:text/html,{code}' }}   | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: '{code}vbscript:x' }}        | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: '{+code}' }}                 | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: '{code}script:alert(1)' }}   | ${{ urlTemplate: ['Invalid URL template.'] }}
    ${{ urlTemplate: 'https://a/data:{code}' }}   | ${null}
    ${{ urlTemplate: 'https://example.com/{x}' }} | ${{ general: MISSING }}
    ${{ urlTemplate: 'https://a/{code}{x}' }}     | ${{ general: ['"code" should be the only variable present in the URL template'] }}
  `('validates $fields: $errors', ({ fields, errors }) => {
    expect(errorsOf(fields)).toEqual(errors);
  });

  it('rejects a duplicate name for the same language', () => {
    const general = ['Realm playground with this Realm, Pygments language and Name already exists.'];
    expect(errorsOf({}, [playgroundWith()])).toEqual({ general });
    expect(errorsOf({ language: 'Perl' }, [playgroundWith()])).toBeNull();
  });

  it('limits a realm to 200 playgrounds', () => {
    const others = Array.from({ length: MAX_PLAYGROUNDS }, (_, n) => playgroundWith({ name: `Play ${n}` }));
    expect(errorsOf({}, others.slice(1))).toBeNull();
    expect(errorsOf({}, others)).toBe('Too many playgrounds (limit: 200).');
  });
});
