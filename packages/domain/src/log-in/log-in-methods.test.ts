import { type AddressStanding, addressStanding, admitsStrangers, type EmailStatement } from './log-in-methods.js';

const ADDRESS = 'hamlet@zulip.com';
const OTHER = 'ophelia@zulip.com';
const says = (email: string | null, isVerified: boolean): EmailStatement => ({ email, isVerified });

describe('addressStanding', () => {
  it.each<[string, string | null, readonly EmailStatement[], trustsEmails: boolean, AddressStanding]>([
    ['verified address', ADDRESS, [says(ADDRESS, true)], false, 'vouched'],
    ['verified address in other letter case', ADDRESS, [says('Hamlet@Zulip.com', true)], false, 'vouched'],
    ['verified address in two documents', ADDRESS, [says(OTHER, true), says(ADDRESS, true)], false, 'vouched'],
    ['no statement', ADDRESS, [], false, 'unproven'],
    ['no statement by a trusted service', ADDRESS, [], true, 'vouched'],
    ['other verified address', ADDRESS, [says(OTHER, true)], false, 'unproven'],
    ['other verified address at a trusted service', ADDRESS, [says(OTHER, true)], true, 'vouched'],
    ['verified address without a name', ADDRESS, [says(null, true)], false, 'unproven'],
    ['unverified address', ADDRESS, [says(ADDRESS, false)], false, 'unproven'],
    ['unverified address at a trusted service', ADDRESS, [says(ADDRESS, false)], true, 'unproven'],
    ['unverified address without a name at a trusted service', ADDRESS, [says(null, false)], true, 'unproven'],
    ['contradiction', ADDRESS, [says(ADDRESS, true), says(ADDRESS, false)], true, 'unproven'],
    ['no address', null, [says(ADDRESS, true)], true, 'missing'],
    ['invalid address', 'hamlet', [says('hamlet', true)], true, 'missing'],
  ])('classifies %s', (_, email, emailStatements, trustsEmails, standing) => {
    expect(addressStanding({ email, emailStatements }, { trustsEmails })).toBe(standing);
  });
});

describe('admitsStrangers', () => {
  it.each<[createsPeople: boolean | undefined, inviteRequired: boolean, boolean]>([
    [undefined, false, true],
    [undefined, true, false],
    [true, false, true],
    [true, true, true],
    [false, false, false],
    [false, true, false],
  ])('with createPeople %s and inviteRequired %s, returns %s', (createsPeople, inviteRequired, admitted) => {
    const method = createsPeople === undefined ? {} : { createsPeople };
    expect(admitsStrangers(method, { settings: { inviteRequired } as never })).toBe(admitted);
  });
});
