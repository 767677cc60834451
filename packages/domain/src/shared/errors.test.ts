import { DomainError, declaredErrors, declareErrors, SHARED_ERRORS } from './errors.js';

it('knows of each refusal its kind, and the HTTP status of that', () => {
  expect(new DomainError('NOT_PERMITTED', 'No')).toMatchObject({ kind: 'forbidden', status: 403 });
  expect(new DomainError('SERVER_BUSY', 'Later')).toMatchObject({ kind: 'unavailable', status: 503 });
});

it('lists what is declared', () => {
  expect([...declaredErrors()]).toEqual(expect.arrayContaining(Object.entries(SHARED_ERRORS)));
});

it('refuses a code that is declared twice', () => {
  expect(() => declareErrors({ NOT_PERMITTED: 'forbidden' })).toThrow('NOT_PERMITTED is declared twice');
});
