import { createHmac } from 'node:crypto';

/** Signs a token like another service (RFC 7515); `algorithm` is the claimed algorithm. */
export function signJsonWebToken(claims: object, secret: string, algorithm = 'HS256'): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`;
  const hash = `sha${/\d+$/.exec(algorithm)?.[0] ?? '256'}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}
