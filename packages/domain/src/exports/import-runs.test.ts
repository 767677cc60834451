import type { DomainError } from '../kernel/errors.js';
import type { RealmId } from '../kernel/ids.js';
import { findEndedRun, type ImportRun, requireChecked, requireClaimBy, requireIdle } from './import-runs.js';

function codeOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return (error as DomainError).code;
  }
}

describe('import of an uploaded export', () => {
  it.each`
    status         | report      | toReplace           | toStart
    ${'checking'}  | ${null}     | ${'IMPORT_RUNNING'} | ${'IMPORT_RUNNING'}
    ${'checked'}   | ${'Report'} | ${null}             | ${null}
    ${'importing'} | ${'Report'} | ${'IMPORT_RUNNING'} | ${'IMPORT_RUNNING'}
    ${'imported'}  | ${'Report'} | ${null}             | ${'IMPORT_NOT_CHECKED'}
    ${'failed'}    | ${'Report'} | ${null}             | ${null}
    ${'failed'}    | ${null}     | ${null}             | ${'IMPORT_NOT_CHECKED'}
  `('is replaced or started in status $status with report $report', ({ status, report, toReplace, toStart }) => {
    const run = { status, report } as ImportRun;
    expect(codeOf(() => requireIdle(run))).toBe(toReplace);
    expect(codeOf(() => requireChecked(run))).toBe(toStart);
  });

  it.each`
    status         | report      | hasFile  | isEnded
    ${'checking'}  | ${null}     | ${true}  | ${false}
    ${'checked'}   | ${'Report'} | ${true}  | ${false}
    ${'checked'}   | ${'Report'} | ${false} | ${true}
    ${'importing'} | ${'Report'} | ${true}  | ${false}
    ${'importing'} | ${'Report'} | ${false} | ${false}
    ${'imported'}  | ${'Report'} | ${false} | ${true}
    ${'imported'}  | ${'Report'} | ${true}  | ${true}
    ${'failed'}    | ${'Report'} | ${true}  | ${false}
    ${'failed'}    | ${'Report'} | ${false} | ${true}
    ${'failed'}    | ${null}     | ${true}  | ${true}
  `(
    'has ended ($isEnded) in status $status with report $report and file $hasFile',
    async ({ status, report, hasFile, isEnded }) => {
      const run = { status, report } as ImportRun;
      const reads = { importRuns: { list: async () => [run] }, files: { find: async () => (hasFile ? {} : null) } };
      expect(await findEndedRun(reads as never, 1 as RealmId)).toBe(isEnded ? run : null);
    },
  );

  it.each`
    claimBy                | code
    ${''}                  | ${null}
    ${'email'}             | ${null}
    ${'email,ldap-acme'}   | ${null}
    ${'email, keycloak'}   | ${'INVALID_CLAIM_BY'}
    ${'email,'}            | ${'INVALID_CLAIM_BY'}
    ${'email --report=/x'} | ${'INVALID_CLAIM_BY'}
  `('accepts the identities $claimBy unless they are malformed', ({ claimBy, code }) => {
    expect(codeOf(() => requireClaimBy(claimBy))).toBe(code);
  });
});
