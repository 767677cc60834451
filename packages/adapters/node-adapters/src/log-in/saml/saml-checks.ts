/** Element as parsed by `@node-saml/node-saml`: attributes in `$`, text in `_`, child elements by name. */
type Element = Readonly<Record<string, unknown>>;

/** Expected log-in that a response must confirm. */
export interface SamlExpectation {
  readonly requestId: string;
  readonly callbackUrl: string;
  readonly entityId: string;
  /** True if the response is signed, which makes Destination and Issuer mandatory. */
  readonly isResponseSigned: boolean;
  readonly nowMs: number;
  readonly clockSkewMs: number;
}

const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** True if the provider reports a successful log-in. */
export const isSuccess = (response: unknown): boolean =>
  attributeOf(childrenOf(childrenOf(response, 'Status')[0], 'StatusCode')[0], 'Value') === SUCCESS;

/**
 * Performs checks omitted by the library (SAML 2.0: web browser SSO profile). `assertion` is the signed element.
 * @throws Error describing the problem
 */
export function requireMeantForUs(response: unknown, assertion: unknown, expected: SamlExpectation): void {
  const { callbackUrl, entityId, isResponseSigned } = expected;
  const destination = attributeOf(response, 'Destination');
  if (destination !== callbackUrl && (destination !== null || isResponseSigned))
    throw new Error(`The response has ${shown('Destination', destination)} instead of ${callbackUrl}`);
  requireIssuer('response', response, entityId, isResponseSigned);
  requireIssuer('assertion', assertion, entityId, true);
  const confirmations = childrenOf(childrenOf(assertion, 'Subject')[0], 'SubjectConfirmation');
  const problems = confirmations.map((confirmation) => problemOf(confirmation, expected));
  if (!problems.includes(null))
    throw new Error(`The assertion does not confirm this log-in: ${problems.join('; ') || 'no SubjectConfirmation'}`);
  for (const statement of childrenOf(assertion, 'AuthnStatement')) {
    const end = attributeOf(statement, 'SessionNotOnOrAfter');
    if (end !== null && !isFuture(end, expected))
      throw new Error(`The session at the provider has ended: SessionNotOnOrAfter is ${end}`);
  }
}

function requireIssuer(what: string, element: unknown, entityId: string, isRequired: boolean): void {
  const issuers = childrenOf(element, 'Issuer').map(textOf);
  if (issuers.length === 0 && isRequired) issuers.push(null);
  for (const issuer of issuers)
    if (issuer !== entityId) throw new Error(`The ${what} has ${shown('Issuer', issuer)} instead of ${entityId}`);
}

/** Returns the reason why a subject confirmation does not apply to the log-in; null if it applies. */
function problemOf(confirmation: unknown, expected: SamlExpectation): string | null {
  const method = attributeOf(confirmation, 'Method');
  // Other methods, such as holder-of-key, need a proof that browsers do not send.
  if (method !== BEARER) return `${shown('Method', method)} instead of ${BEARER}`;
  const data = childrenOf(confirmation, 'SubjectConfirmationData')[0];
  const [recipient, request, end, begin] = ['Recipient', 'InResponseTo', 'NotOnOrAfter', 'NotBefore'].map((name) =>
    attributeOf(data, name),
  );
  if (recipient !== expected.callbackUrl) return `${shown('Recipient', recipient!)} instead of ${expected.callbackUrl}`;
  if (request !== expected.requestId) return `${shown('InResponseTo', request!)} instead of ${expected.requestId}`;
  if (end === null || !isFuture(end!, expected)) return `${shown('NotOnOrAfter', end!)}, which has passed`;
  const isEarly = begin !== null && !(Date.parse(begin!) <= expected.nowMs + expected.clockSkewMs);
  return isEarly ? `${shown('NotBefore', begin!)}, which is in the future` : null;
}

/** Returns false for invalid times. */
const isFuture = (time: string, { nowMs, clockSkewMs }: SamlExpectation): boolean =>
  Date.parse(time) > nowMs - clockSkewMs;

const shown = (name: string, value: string | null): string => (value === null ? `no ${name}` : `the ${name} ${value}`);

function childrenOf(element: unknown, name: string): readonly unknown[] {
  const children = (element as Element | undefined)?.[name];
  return Array.isArray(children) ? children : [];
}

function attributeOf(element: unknown, name: string): string | null {
  const value = ((element as Element | undefined)?.$ as Element | undefined)?.[name];
  return typeof value === 'string' ? value : null;
}

function textOf(element: unknown): string | null {
  const text = (element as Element | undefined)?._;
  return typeof text === 'string' ? text.trim() : null;
}
