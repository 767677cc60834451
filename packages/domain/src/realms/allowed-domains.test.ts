import { MAX_ALLOWED_DOMAINS, parseDomain, requireRoomForDomain } from './allowed-domains.js';

describe('parseDomain', () => {
  it.each`
    given                      | kept
    ${' ACME.com '}            | ${'acme.com'}
    ${'x-x.y.3.z'}             | ${'x-x.y.3.z'}
    ${`${'a'.repeat(76)}.com`} | ${`${'a'.repeat(76)}.com`}
  `('normalizes $given to $kept', ({ given, kept }) => {
    expect(parseDomain(given)).toBe(kept);
  });

  it.each`
    given                      | reason
    ${'  '}                    | ${"Domain can't be empty."}
    ${'test'}                  | ${'Domain must have at least one dot (.)'}
    ${`${'a'.repeat(77)}.com`} | ${'Domain is too long'}
    ${'t.'}                    | ${'Domain cannot start or end with a dot (.)'}
    ${'.com'}                  | ${'Domain cannot start or end with a dot (.)'}
    ${'test...com'}            | ${"Consecutive '.' are not allowed."}
    ${'test.-domain.com'}      | ${"Subdomains cannot start or end with a '-'."}
    ${'test-.domain.com'}      | ${"Subdomains cannot start or end with a '-'."}
    ${'test_domain.com'}       | ${"Domain can only have letters, numbers, '.' and '-'s."}
    ${'ünder.com'}             | ${"Domain can only have letters, numbers, '.' and '-'s."}
  `('rejects $given: $reason', ({ given, reason }) => {
    expect(() => parseDomain(given)).toThrow(`Invalid domain: ${reason}`);
  });
});

it('requireRoomForDomain limits a realm to 1000 domains', () => {
  expect(() => requireRoomForDomain(MAX_ALLOWED_DOMAINS - 1)).not.toThrow();
  expect(() => requireRoomForDomain(MAX_ALLOWED_DOMAINS)).toThrow('Too many domains (limit: 1000).');
});
