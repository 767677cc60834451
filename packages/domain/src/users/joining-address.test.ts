import { fakeDisposableDomains, formatDecision, makeRealm } from '@parley/testkit';
import type { AllowedDomain } from '../realms/allowed-domains.js';
import { addressFault, addressFaultText, canJoinWith, type JoiningStep } from './change-email.js';

const listed = (...domains: readonly string[]): AllowedDomain[] =>
  domains.map((domain) => ({ domain: domain.replace('*.', ''), allowsSubdomains: domain.startsWith('*.') }));
const policy = (settings: Parameters<typeof makeRealm>[0] & object, domains: readonly AllowedDomain[] = []) => ({
  realm: makeRealm(settings),
  domains,
  disposable: fakeDisposableDomains,
});

/** Covers organization §5, "Who may join with which address". */
describe('addressFault with restricted domains', () => {
  const restricted = { settings: { emailsRestrictedToDomains: true } };

  it.each`
    email                        | domains                       | fault
    ${'user@test1.com'}          | ${['test1.com']}              | ${null}
    ${'user@TEST1.com'}          | ${['test1.com']}              | ${null}
    ${'user@test2.com'}          | ${['test1.com']}              | ${'outsideDomain'}
    ${'user@test2.com'}          | ${['test1.com', 'test2.com']} | ${null}
    ${'user@test2.test1.com'}    | ${['test1.com']}              | ${'outsideDomain'}
    ${'user@test2.test1.com'}    | ${['*.test1.com']}            | ${null}
    ${'user@a.b.test1.com'}      | ${['*.test1.com']}            | ${null}
    ${'user@test1.com'}          | ${['*.test1.com']}            | ${null}
    ${'user@mytest1.com'}        | ${['*.test1.com']}            | ${'outsideDomain'}
    ${'user@com'}                | ${['*.test1.com']}            | ${'outsideDomain'}
    ${'user@test1.com.evil.org'} | ${['*.test1.com']}            | ${'outsideDomain'}
    ${'"x@test1.com"@evil.org'}  | ${['test1.com']}              | ${'outsideDomain'}
    ${'user@test1.com'}          | ${[]}                         | ${'outsideDomain'}
    ${'a+b@test1.com'}           | ${['test1.com']}              | ${'containsPlus'}
    ${'a+b@test2.com'}           | ${['test1.com']}              | ${'outsideDomain'}
    ${'user@a+b.org'}            | ${['a+b.org']}                | ${null}
    ${'user@disposable.test'}    | ${['disposable.test']}        | ${null}
    ${'user@disposable.test'}    | ${['test1.com']}              | ${'outsideDomain'}
  `('checks $email against the allowed domains $domains: $fault', ({ email, domains, fault }) => {
    expect(addressFault(email, policy(restricted, listed(...domains)))).toBe(fault);
  });
});

describe('addressFault without restricted domains', () => {
  it.each`
    email                     | disallowed | fault
    ${'user@test1.com'}       | ${true}    | ${null}
    ${'a+b@test1.com'}        | ${true}    | ${null}
    ${'user@disposable.test'} | ${true}    | ${'disposable'}
    ${'user@DISPOSABLE.test'} | ${true}    | ${'disposable'}
    ${'user@disposable.test'} | ${false}   | ${null}
  `('checks $email with disposable addresses disallowed ($disallowed): $fault', ({ email, disallowed, fault }) => {
    const settings = { disallowDisposableEmailAddresses: disallowed };
    // The domain list has no effect then.
    expect(addressFault(email, policy({ settings }, listed('other.org')))).toBe(fault);
  });
});

describe('email policy error', () => {
  const short = [
    'Outside your domain.',
    'Please use your real email address.',
    'Email addresses containing + are not allowed.',
  ];

  it.each<[JoiningStep, readonly string[]]>([
    [
      'createUser',
      [
        "Email 'x@y.z' not allowed in this organization",
        'Disposable email addresses are not allowed in this organization',
        'Email addresses containing + are not allowed.',
      ],
    ],
    [
      'joinForm',
      [
        'Your email address, x@y.z, is not in one of the domains that are allowed to register for accounts in this organization.',
        'Please use your real email address.',
        'Email addresses containing + are not allowed in this organization.',
      ],
    ],
    ['emailChange', short],
    ['invitation', short],
  ])('has the right text for %s', (step, texts) => {
    const faults = ['outsideDomain', 'disposable', 'containsPlus'] as const;
    expect(faults.map((fault) => addressFaultText(step, 'x@y.z', fault))).toEqual(texts);
  });

  it('rejects an email outside the allowed domains', () => {
    const closed = policy({ settings: { emailsRestrictedToDomains: true } }, listed('test1.com'));
    expect(formatDecision(canJoinWith('user@test1.com', closed, 'createUser'))).toBe('yes');
    expect(formatDecision(canJoinWith('user@x.org', closed, 'createUser'))).toBe(
      "EMAIL_NOT_ALLOWED: Email 'user@x.org' not allowed in this organization",
    );
  });
});
