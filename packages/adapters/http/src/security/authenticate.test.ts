import { DomainError, type RealmId, type UserId } from '@parley/domain/kernel';
import type { Request } from '../wire/request.js';
import { BasicAuthenticator, type Credentials, KeyParameterAuthenticator } from './authenticate.js';

const KEY = 'a'.repeat(32);

/** Fake credentials that check with the given result. */
const credentialsThat = (response: DomainError | 'accept'): Credentials => ({
  verify: async () => {
    if (response !== 'accept') throw response;
    return { realmId: 1 as RealmId, userId: 2 as UserId };
  },
});
const request = (query: string, authorization?: string) =>
  ({ query, realmAddress: 'x', header: () => authorization }) as unknown as Request;

const WRONG = new DomainError('UNAUTHENTICATED', 'Invalid API key');
const DEACTIVATED = new DomainError('USER_DEACTIVATED', 'Account is deactivated');
const BUSY = new DomainError('SERVER_BUSY', 'Try again in a moment.', { retryAfter: 1 });

describe('BasicAuthenticator', () => {
  const header = `Basic ${Buffer.from(`x@y:${KEY}`).toString('base64')}`;
  const authenticate = (response: DomainError | 'accept') =>
    new BasicAuthenticator(credentialsThat(response)).authenticate(request('', header));

  it('reports all credential errors as unauthorized', async () => {
    for (const error of [WRONG, DEACTIVATED]) {
      await expect(authenticate(error)).rejects.toMatchObject({ status: 401, message: error.message });
    }
    expect(await authenticate('accept')).toEqual({ realmId: 1, userId: 2 });
  });

  it('passes on server errors unchanged', async () => {
    await expect(authenticate(BUSY)).rejects.toBe(BUSY);
  });
});

describe('KeyParameterAuthenticator', () => {
  const authenticate = (response: DomainError | 'accept', query = `api_key=${KEY}`) =>
    new KeyParameterAuthenticator(credentialsThat(response)).authenticate(request(query));

  it('rejects malformed and unknown keys and passes on other errors', async () => {
    const invalid = { status: 401, message: 'Invalid API key' };
    await expect(authenticate(WRONG)).rejects.toMatchObject(invalid);
    await expect(authenticate('accept', 'api_key=short')).rejects.toMatchObject(invalid);
    for (const error of [DEACTIVATED, BUSY]) await expect(authenticate(error)).rejects.toBe(error);
    expect(await authenticate('accept', 'a=b')).toBeNull();
    expect(await authenticate('accept')).toEqual({ realmId: 1, userId: 2 });
  });
});
