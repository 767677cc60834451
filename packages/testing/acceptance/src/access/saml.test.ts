import { execFileSync } from 'node:child_process';
import { verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { type SamlAccount, samlProviders } from '@parley/node-adapters';
import { SignedXml } from 'xml-crypto';
import { expectRefused, fieldsOf } from '../testing/expectations.js';
import { TestBrowser } from '../testing/test-browser.js';
import type { TestReply } from '../testing/test-reply.js';
import { TestServer } from '../testing/test-server.js';

const IDP = 'https://idp.example.com/metadata';
const folder = mkdtempSync(join(tmpdir(), 'parley-saml-'));

/** Key and certificate in PEM format. */
function keyPair(name: string): { readonly key: string; readonly certificate: string } {
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const subject = ['-subj', `/CN=${name}`, '-days', '2'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', certificate];
  execFileSync('openssl', made, { stdio: 'pipe' });
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
}
const own = keyPair('idp');
const foreign = keyPair('stranger');
const requester = keyPair('parley');

let certificates = [own.certificate];
let server: TestServer;
const problems: { err?: Error }[] = [];
beforeAll(async () => {
  const account: SamlAccount = {
    name: 'company',
    entityId: IDP,
    entryPoint: 'https://idp.example.com/sso',
    get certificates() {
      return certificates;
    },
    signsResponse: false,
    requestKey: null,
    displayName: 'Company',
    displayIcon: null,
    realms: ['zulip'],
    allowedDomains: ['zulip.com', 'example.com'],
    trustsEmails: true,
    createsPeople: null,
    requiredGroups: [],
    attributes: { id: null, email: 'email', name: 'displayName', role: 'groups', groups: null, picture: 'photo' },
    roles: new Map([['chat-admins', 'administrator']]),
    defaultRole: 'member',
  };
  const other = {
    ...account,
    name: 'other',
    entityId: 'https://other.example.com',
    certificates: [foreign.certificate],
  };
  const signing = { ...account, name: 'signing', requestKey: requester };
  const untrusted = { ...account, name: 'untrusted', trustsEmails: false };
  const restricted = { ...account, name: 'restricted', requiredGroups: ['chat'] };
  restricted.attributes = { ...account.attributes, groups: 'groups' };
  const strict = { ...account, name: 'strict', signsResponse: true };
  const log = (fields: object) => void ('audit' in fields || problems.push(fields));
  server = await TestServer.start({
    logInProviders: await samlProviders([account, other, signing, untrusted, restricted, strict]),
    trustedProxies: 1,
    logger: { info: () => {}, warn: log, error: log },
  });
  await server.changeRealm({ settings: { samlAuthentication: true, inviteRequired: false } });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  problems.length = 0;
});

interface Asked {
  readonly state: string;
  readonly id: string;
  readonly acs: string;
  readonly issuer: string;
}

/** Begins a log-in and parses the request like the identity provider. */
async function ask(browser: TestBrowser, query = '', method = 'company'): Promise<Asked> {
  const { headers } = await browser.get(`/accounts/login/external/${method}/${query}`);
  const url = new URL(headers.location!);
  const xml = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest')!, 'base64')).toString();
  const attribute = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(xml)![1]!;
  const issuer = /<saml:Issuer[^>]*>([^<]*)</.exec(xml)![1]!;
  const state = url.searchParams.get('RelayState')!;
  return { state, id: attribute(' ID'), acs: attribute('AssertionConsumerServiceURL'), issuer };
}

interface Answer {
  readonly subject?: string;
  readonly email?: string;
  readonly groups?: readonly string[];
  /** XML instead of the groups attribute. */
  readonly groupsXml?: string;
  readonly audience?: string;
  readonly issuer?: string;
  /** Seconds from now. */
  readonly from?: number;
  readonly until?: number;
  readonly inResponseTo?: string | null;
  readonly key?: string | null;
  readonly signs?: 'Assertion' | 'Response' | 'both';
  readonly status?: string;
  /** Changes the assertion before it is signed. */
  readonly draft?: (assertion: string) => string;
  /** Changes the response before it is signed. */
  readonly draftResponse?: (response: string) => string;
  /** Changes the signed document. */
  readonly change?: (xml: string) => string;
}

const unchanged = (xml: string): string => xml;
const at = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

function assertionOf(asked: Asked, answer: Answer, id = '_assertion'): string {
  const { subject = 'subject-1', email = 'hamlet@zulip.com', groups = [], from = -5, until = 60 } = answer;
  const { audience = asked.issuer, issuer = IDP, inResponseTo = asked.id } = answer;
  const answers = inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`;
  const attribute = (name: string, ...values: readonly string[]) =>
    `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`;
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" Version="2.0" ID="${id}" IssueInstant="${at(0)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">${subject}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${at(until)}" Recipient="${asked.acs}"${answers}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(from)}" NotOnOrAfter="${at(until)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${attribute('email', email)}${attribute('displayName', 'Prince of Denmark')}${answer.groupsXml ?? attribute('groups', 'x', ...groups)}</saml:AttributeStatement></saml:Assertion>`;
}

function signed(xml: string, element: 'Assertion' | 'Response', privateKey: string): string {
  const signature = new SignedXml({
    privateKey,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  const xpath = `//*[local-name()='${element}']`;
  signature.addReference({
    xpath,
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  });
  signature.computeSignature(xml, { location: { reference: `${xpath}/*[1]`, action: 'after' } });
  return signature.getSignedXml();
}

/** Response of an identity provider. */
function responseTo(asked: Asked, answer: Answer = {}): string {
  const { issuer = IDP, inResponseTo = asked.id, key = own.key, signs = 'Assertion', status = 'Success' } = answer;
  const { draft = unchanged, draftResponse = unchanged } = answer;
  const answers = inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`;
  const assertion = status === 'Success' ? draft(assertionOf(asked, answer)) : '';
  const response = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_response" Version="2.0" IssueInstant="${at(0)}" Destination="${asked.acs}"${answers}><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>${assertion}</samlp:Response>`;
  const xml = draftResponse(response);
  const isSigned = key !== null && status === 'Success';
  const one = isSigned && signs !== 'Response' ? signed(xml, 'Assertion', key) : xml;
  const complete = isSigned && signs !== 'Assertion' ? signed(one, 'Response', key) : one;
  return answer.change ? answer.change(complete) : complete;
}

/** Submits the form like the identity provider's page. */
const send = (browser: TestBrowser, { state }: Pick<Asked, 'state'>, xml: string, method = 'company') =>
  browser.request(
    'POST',
    `/accounts/login/complete/${method}/`,
    { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: state },
    { headers: { Origin: 'https://idp.example.com', 'Sec-Fetch-Site': 'cross-site' } },
  );

async function logIn(answer: Answer = {}, browser = new TestBrowser(server)): Promise<TestReply> {
  const asked = await ask(browser);
  return send(browser, asked, responseTo(asked, answer));
}
const userIdOf = async (reply: TestReply): Promise<number> => {
  expect([302, 303]).toContain(reply.status);
  const Cookie = reply.headers['set-cookie']!.map((cookie) => cookie.split(';')[0]).join('; ');
  return fieldsOf(await server.request('GET', '//json/users/me', { headers: { Cookie } })).user_id;
};
const expectNotConfirmed = (reply: TestReply) => expectRefused(reply, 'The service did not confirm who you are.');
/** Returns the message of the reported error. */
const reason = (): string => {
  expect(problems).toHaveLength(1);
  return (problems[0]!.err!.cause as Error | undefined)?.message ?? problems[0]!.err!.message;
};
const BROKEN = 'The service for logging in does not respond as expected.';
const EXPIRED = 'The log-in took too long or was interrupted.';

describe('log-in by SAML', () => {
  it('sends each browser to the provider with a separate request', async () => {
    const [one, two] = [await ask(new TestBrowser(server)), await ask(new TestBrowser(server))];
    expect(one).toEqual({
      state: expect.stringMatching(/^[\w-]{43}$/),
      id: expect.stringMatching(/^_[0-9a-f]{64}$/),
      acs: `${server.url}/accounts/login/complete/company/`,
      issuer: `${server.url}/accounts/login/metadata/company/`,
    });
    expect(two.id).not.toBe(one.id);
  });

  it('signs requests if it has a key, and announces the certificate to the provider', async () => {
    const { location } = (await new TestBrowser(server).get('/accounts/login/external/signing/')).headers;
    const query = new URL(location as string).search.slice(1);
    const [signed, signature] = query.split('&Signature=') as [string, string];
    expect(signed).toMatch(/^SAMLRequest=.*&RelayState=.*&SigAlg=.*rsa-sha256$/);
    const given = Buffer.from(decodeURIComponent(signature), 'base64');
    expect(verify('sha256', Buffer.from(signed), requester.certificate, given)).toBe(true);
    expect(verify('sha256', Buffer.from(signed), own.certificate, given)).toBe(false);
    const { body } = await server.request('GET', '//accounts/login/metadata/signing/');
    expect(body).toContain('AuthnRequestsSigned="true"');
    expect(body).toContain(requester.certificate.split('\n')[1]!);
  });

  it('describes the server to the provider', async () => {
    const { status, headers, body } = await server.request('GET', '//accounts/login/metadata/company/');
    expect([status, headers['content-type']]).toEqual([200, 'application/samlmetadata+xml']);
    expect(body).toContain(`entityID="${server.url}/accounts/login/metadata/company/"`);
    expect(body).toContain(`Location="${server.url}/accounts/login/complete/company/"`);
    expect((await server.request('GET', '//accounts/login/metadata/nobody/')).status).toBe(400);
  });

  it('links accounts by address at first and by the name at the provider later', async () => {
    const { hamlet } = server.people;
    expect(await userIdOf(await logIn())).toBe(hamlet.id);
    expect(await userIdOf(await logIn({ email: 'elsewhere@example.com' }))).toBe(hamlet.id);
  });

  it('does not treat an address of an allowed domain as verified', async () => {
    const browser = new TestBrowser(server);
    const asked = await ask(browser, '', 'untrusted');
    const answer = { subject: 'impostor', email: 'desdemona@zulip.com' };
    const reply = await send(browser, asked, responseTo(asked, answer), 'untrusted');
    expectRefused(reply, 'The service does not vouch for your email address.');
  });

  it('rejects users outside the required groups', async () => {
    for (const [groups, status] of [
      [['other'], 400],
      [['chat'], 303],
    ] as const) {
      const browser = new TestBrowser(server);
      const asked = await ask(browser, '', 'restricted');
      expect((await send(browser, asked, responseTo(asked, { groups }), 'restricted')).status).toBe(status);
    }
  });

  it('creates accounts with name and role', async () => {
    const id = await userIdOf(await logIn({ subject: 'new', email: 'yorick@example.com', groups: ['chat-admins'] }));
    expect(fieldsOf(await server.get(`/users/${id}`, server.people.iago)).user).toMatchObject({
      full_name: 'Prince of Denmark',
      role: 200,
    });
  });

  it.each<[string, Partial<Answer>, number]>([
    ['is taken away by a list without a match', { groups: [] }, 400],
    ['is taken away by an empty list', { groupsXml: '<saml:Attribute Name="groups"/>' }, 400],
    ['is kept without the attribute', { groupsXml: '' }, 200],
    [
      'is kept for users in too many groups',
      { groupsXml: '<saml:Attribute Name="http://schemas.microsoft.com/claims/groups.link"/>' },
      200,
    ],
  ])('a role %s', async (_, answer, role) => {
    const email = 'osric@example.com';
    const id = await userIdOf(await logIn({ subject: 'osric', email, groups: ['chat-admins'] }));
    const roleNow = async () => fieldsOf(await server.get(`/users/${id}`, server.people.iago)).user.role;
    expect(await roleNow()).toBe(200);
    expect(await userIdOf(await logIn({ subject: 'osric', email, ...answer }))).toBe(id);
    expect(await roleNow()).toBe(role);
    const reported = expect.objectContaining({ subject: 'osric', problem: expect.stringContaining('groups is') });
    expect(problems).toEqual(role === 400 ? [] : [reported]);
  });

  it('gives phones their key', async () => {
    const browser = new TestBrowser(server);
    const asked = await ask(browser, `?mobile_flow_otp=${'ab'.repeat(32)}`);
    const { headers } = await send(browser, asked, responseTo(asked));
    expect(headers.location).toMatch(/^zulip:\/\/login\?otp_encrypted_api_key=[0-9a-f]{64}&/);
  });

  it("sends the log-in cookie to other sites' forms only on secure connections", async () => {
    const cookieWith = async (headers: Record<string, string>) => {
      const reply = await server.request('GET', '//accounts/login/external/company/', { headers });
      return reply.headers['set-cookie']![0];
    };
    expect(await cookieWith({ 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '1.2.3.4' })).toMatch(
      /^parley_log_in_[\w-]{8}=[\w-]+; Path=\/accounts\/login; Max-Age=300; SameSite=None; HttpOnly; Secure$/,
    );
    expect(await cookieWith({})).toContain('SameSite=Lax');
  });

  it("accepts a response only once, and only in the log-in's browser and with its method", async () => {
    const browser = new TestBrowser(server);
    const asked = await ask(browser);
    const xml = responseTo(asked);
    expectRefused(await send(new TestBrowser(server), asked, xml), EXPIRED);
    expect((await send(browser, asked, xml)).status).not.toBe(400);
    const again = await ask(browser);
    expectRefused(await send(browser, again, responseTo(again), 'other'), EXPIRED);
    const third = await ask(browser);
    expectRefused(await send(browser, { state: 'x'.repeat(43) }, responseTo(third)), EXPIRED);
    const fourth = await ask(browser);
    expect((await send(browser, fourth, responseTo(fourth))).status).not.toBe(400);
    expectRefused(await send(browser, fourth, responseTo(fourth)), EXPIRED);
  });

  it('rejects responses to other requests and unsolicited responses', async () => {
    const stolen = await ask(new TestBrowser(server));
    const browser = new TestBrowser(server);
    const asked = await ask(browser);
    expectRefused(await send(browser, asked, responseTo(stolen)), BROKEN);
    expectRefused(await logIn({ inResponseTo: null }), BROKEN);
    // The assertion is unsolicited, and the response around it is unsigned.
    const later = await ask(browser);
    const forged = responseTo(later, { inResponseTo: null }).replace(
      'ID="_response"',
      `ID="_response" InResponseTo="${later.id}"`,
    );
    expectRefused(await send(browser, later, forged), BROKEN);
  });

  it.each<[string, Answer]>([
    ['is not signed', { key: null }],
    ['is signed around an unsigned assertion', { signs: 'Response' }],
    ['is signed with another key', { key: foreign.key }],
    ['was changed after it was signed', { change: (xml) => xml.replace('hamlet@zulip.com', 'iago@zulip.com') }],
    ['is for another audience', { audience: 'https://elsewhere.example.com' }],
    ['comes from another provider', { issuer: 'https://other.example.com' }],
    ['has expired', { from: -600, until: -90 }],
    ['is not valid yet', { from: 120, until: 600 }],
    ['is not XML', { change: () => 'nonsense' }],
  ])('rejects a response that %s', async (_, answer) => {
    expectRefused(await logIn(answer), BROKEN);
    expect(problems).toHaveLength(1);
  });

  it('reports the fingerprints of an unknown signing key and of the configured ones', async () => {
    const { certificate } = foreign;
    const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint256;
    const withCertificate = (xml: string) =>
      xml.replace(
        '</SignatureValue>',
        `$&<KeyInfo><X509Data><X509Certificate>${certificate.replace(/-----[^-]+-----/g, '')}</X509Certificate></X509Data></KeyInfo>`,
      );
    expectRefused(await logIn({ key: foreign.key, change: withCertificate }), BROKEN);
    expect(reason()).toMatch(`contains ${fingerprint(certificate)}; configured: ${fingerprint(own.certificate)} `);
    problems.length = 0;
    expectRefused(await logIn({ key: foreign.key }), BROKEN);
    expect(reason()).toMatch(`contains no certificate; configured: ${fingerprint(own.certificate)} `);
  });

  it('accepts the certificates that the account has at the time of the log-in', async () => {
    certificates = [own.certificate, foreign.certificate];
    await userIdOf(await logIn({ key: foreign.key }));
    certificates = [own.certificate];
    expectRefused(await logIn({ key: foreign.key }), BROKEN);
  });

  const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
  const ISSUER = /<saml:Issuer[^>]*>[^<]*<\/saml:Issuer>/;
  const ACS = / Recipient="([^"]*)"/;
  const changed = (from: string | RegExp, to: string) => (xml: string) => {
    expect(xml).toMatch(from);
    return xml.replace(from, to);
  };
  it.each<[string, Answer, RegExp]>([
    ['another Recipient', { draft: changed(ACS, ' Recipient="https://evil.example/acs"') }, /Recipient.*evil\.example/],
    [
      'the Recipient of the second provider',
      { draft: changed('complete/company/"', 'complete/other/"') },
      /Recipient.*complete\/other/,
    ],
    ['no Recipient', { draft: changed(ACS, '') }, /no Recipient/],
    ['a confirmation without expiry', { draft: changed(/ NotOnOrAfter="[^"]*"/, '') }, /NotOnOrAfter/],
    [
      'a confirmation with a key',
      { draft: changed(bearer, bearer.replace('bearer', 'holder-of-key')) },
      /holder-of-key/,
    ],
    ['a confirmation without a method', { draft: changed(` Method="${bearer}"`, '') }, /no Method/],
    ['no confirmation', { draft: changed(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, '') }, /confirm/],
    [
      'the correct key in a confirmation for another service',
      {
        draft: (xml) => {
          const confirmation = /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/.exec(xml)![0];
          const withKey = confirmation.replace(bearer, bearer.replace('bearer', 'holder-of-key'));
          const elsewhere = confirmation.replace(ACS, ' Recipient="https://evil.example/acs"');
          return xml.replace(confirmation, withKey + elsewhere);
        },
      },
      /holder-of-key.*Recipient/,
    ],
    [
      'an ended session',
      { draft: changed('<saml:AuthnStatement ', `<saml:AuthnStatement SessionNotOnOrAfter="${at(-90)}" `) },
      /SessionNotOnOrAfter/,
    ],
    [
      'an unreadable session expiry',
      { draft: changed('<saml:AuthnStatement ', '<saml:AuthnStatement SessionNotOnOrAfter="soon" ') },
      /SessionNotOnOrAfter/,
    ],
    ['an assertion without Issuer', { draft: changed(ISSUER, '') }, /no Issuer/],
    [
      'another Destination',
      { draftResponse: changed(/ Destination="[^"]*"/, ' Destination="https://evil.example/acs"') },
      /Destination.*evil\.example/,
    ],
    [
      'the Destination of the second provider',
      { draftResponse: changed(/(Destination="[^"]*complete\/)company/, '$1other') },
      /Destination.*complete\/other/,
    ],
    [
      'another response Issuer',
      { draftResponse: changed(/>https:\/\/idp\.example\.com\/metadata</, '>https://other.example.com<') },
      /Issuer.*other\.example\.com/,
    ],
  ])('rejects a signed response with %s', async (_, answer, text) => {
    for (const signs of ['Assertion', 'both'] as const) {
      problems.length = 0;
      expectRefused(await logIn({ subject: 'wrong', signs, ...answer }), BROKEN);
      expect(reason()).toMatch(text);
    }
  });

  it.each(['status:Responder', 'status:Requester', 'status:AuthnFailed'])(
    'rejects a signed assertion in a response with %s',
    async (status) => {
      for (const signs of ['Assertion', 'both'] as const)
        expectNotConfirmed(await logIn({ signs, draftResponse: changed('status:Success', status) }));
    },
  );

  it('rejects a response without a status', async () => {
    const draftResponse = changed(/<samlp:Status>.*<\/samlp:Status>/, '');
    expectNotConfirmed(await logIn({ draftResponse }));
  });

  it('requires Destination and Issuer of responses that must be signed', async () => {
    const logInAt = async (answer: Answer) => {
      problems.length = 0;
      const browser = new TestBrowser(server);
      const asked = await ask(browser, '', 'strict');
      return send(browser, asked, responseTo(asked, { signs: 'both', ...answer }), 'strict');
    };
    expect((await logInAt({})).status).not.toBe(400);
    expectRefused(await logInAt({ signs: 'Assertion' }), BROKEN);
    expectRefused(await logInAt({ draftResponse: changed(/ Destination="[^"]*"/, '') }), BROKEN);
    expect(reason()).toMatch(/no Destination/);
    expectRefused(await logInAt({ draftResponse: changed(ISSUER, '') }), BROKEN);
    expect(reason()).toMatch(/no Issuer/);
  });

  it('accepts responses without the data that providers may omit', async () => {
    const absent = (xml: string) => xml.replace(/ Destination="[^"]*"/, '').replace(ISSUER, '');
    expect((await logIn({ draftResponse: absent })).status).not.toBe(400);
    const lasting = changed('<saml:AuthnStatement ', `<saml:AuthnStatement SessionNotOnOrAfter="${at(600)}" `);
    expect((await logIn({ draft: lasting })).status).not.toBe(400);
  });

  it('accepts clocks that differ by half a minute', async () => {
    expect((await logIn({ from: 30 })).status).not.toBe(400);
    expect((await logIn({ from: -300, until: -30 })).status).not.toBe(400);
  });

  it('rejects addresses of other domains, even with a comment inside the address', async () => {
    expectNotConfirmed(await logIn({ subject: 'o', email: 'outsider@elsewhere.org' }));
    const change = (xml: string) => xml.replace('iago@zulip.com.evil.org', 'iago@zulip.com<!-- -->.evil.org');
    expectNotConfirmed(await logIn({ subject: 'evil', email: 'iago@zulip.com.evil.org', change }));
  });

  it('reports that the user declined', async () => {
    expectNotConfirmed(await logIn({ status: 'Responder' }));
  });

  it('rejects documents that declare types or entities', async () => {
    const doctype = '<!DOCTYPE r [<!ENTITY who "iago@zulip.com"><!ENTITY x SYSTEM "file:///etc/passwd">]>';
    expectNotConfirmed(await logIn({ change: (xml) => doctype + xml.replace('hamlet@zulip.com', '&who;') }));
    expectNotConfirmed(await logIn({ change: (xml) => `<!doctype r>${xml}` }));
  });

  describe('wrapped signature', () => {
    /** Unsigned assertion about another user. */
    const evil = (asked: Asked) => assertionOf(asked, { subject: 'wrapped', email: 'iago@zulip.com' }, '_evil');
    const SIGNED = /<saml:Assertion[\s\S]*<\/saml:Assertion>/;
    const wrappings: Readonly<Record<string, (xml: string, evilOne: string) => string>> = {
      'an assertion before the signed one': (xml, it) => xml.replace(SIGNED, (good) => it + good),
      'an assertion after the signed one': (xml, it) => xml.replace(SIGNED, (good) => good + it),
      'the signed one inside another': (xml, it) =>
        xml.replace(SIGNED, (good) => it.replace('<saml:Subject>', `${good}<saml:Subject>`)),
      'the signed one in an object of a signature': (xml, it) =>
        xml.replace(SIGNED, (good) => {
          const signature = /<Signature[\s\S]*<\/Signature>/.exec(good)![0];
          const bare = good.replace(signature, '');
          const wrapping = signature.replace('</Signature>', `<Object>${bare}</Object></Signature>`);
          return it.replace('</saml:Issuer>', `</saml:Issuer>${wrapping}`);
        }),
      'the same id twice': (xml, it) => xml.replace(SIGNED, (good) => it.replace('_evil', '_assertion') + good),
      'the signed one in extensions': (xml, it) =>
        xml
          .replace(SIGNED, it)
          .replace('<samlp:Status>', `<samlp:Extensions>${SIGNED.exec(xml)![0]}</samlp:Extensions><samlp:Status>`),
    };

    it.each(Object.keys(wrappings))('never logs in an unsigned user: %s', async (name) => {
      const browser = new TestBrowser(server);
      const asked = await ask(browser);
      const reply = await send(browser, asked, wrappings[name]!(responseTo(asked), evil(asked)));
      expect(reply.status).toBe(400);
      expect(String(reply.headers['set-cookie'] ?? '')).not.toContain('sessionid=');
    });
  });
});
