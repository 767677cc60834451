import { DomainError, type ErrorCode } from '@parley/domain/kernel';
import { HttpRefusal } from './errors.js';
import type { Route } from './route.js';

/** Paths below which accounts, rights and settings of an organization are changed. */
const ADMINISTERED = [
  'bots',
  'channel_folders',
  'default_stream_groups',
  'default_streams',
  'export',
  'invites',
  'realm',
  'streams',
  'user_groups',
  'users',
];

/** Whether an operation changes accounts, rights or settings of an organization, so that it is worth a line of its own. */
export function isAdministration({ method, path }: Pick<Route, 'method' | 'path'>): boolean {
  if (method === 'GET') return false;
  const [, first, second, third] = path.split('/');
  if (first === 'users' && second === 'me') return third === undefined || third === 'api_key';
  return ADMINISTERED.includes(first!);
}

const WRONG_CREDENTIALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AUTHENTICATION_FAILED',
  'UNAUTHENTICATED',
  'WRONG_PASSWORD',
]);

/** Whether what came with a request to prove who sent it was not good enough. `triesHeader`: something came in a header. */
export function isFailedLogin(refusal: unknown, triesHeader: boolean): boolean {
  if (refusal instanceof DomainError) return WRONG_CREDENTIALS.has(refusal.code);
  return triesHeader && refusal instanceof HttpRefusal && refusal.status === 401;
}
