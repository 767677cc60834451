import { DomainError, declaredErrors, declareErrors, SHARED_ERRORS } from './errors.js';

it('DomainError maps each error code to its kind and HTTP status', () => {
  expect(new DomainError('NOT_PERMITTED', 'No')).toMatchObject({ kind: 'forbidden', status: 403 });
  expect(new DomainError('SERVER_BUSY', 'Later', { retryAfter: 1 })).toMatchObject({
    kind: 'unavailable',
    status: 503,
  });
});

it('DomainError carries the details of its error code', () => {
  const error: DomainError = new DomainError('RATE_LIMITED', 'Later', { retryAfter: 7 });
  expect(error.is('RATE_LIMITED') && error.details.retryAfter).toBe(7);
  expect(error.is('SERVER_BUSY')).toBe(false);
  expect(new DomainError('NOT_PERMITTED', 'No').details).toEqual({});
});

it('declaredErrors lists all declared codes', () => {
  expect([...declaredErrors()]).toEqual(expect.arrayContaining(Object.entries(SHARED_ERRORS)));
});

it('declareErrors throws if a code is declared twice', () => {
  expect(() => declareErrors({ NOT_PERMITTED: 'forbidden' })).toThrow('NOT_PERMITTED is declared twice');
});
