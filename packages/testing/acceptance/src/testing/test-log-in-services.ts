import type { ExternalIdentity, LogInProvider } from '@parley/domain/log-in';

/** Log-in services that confirm the identity set by the test. */
export class TestLogInServices {
  /** Part of the identity that each service confirms next. */
  confirmed: Partial<ExternalIdentity> = {};

  provider(name: string, policy: Partial<LogInProvider['method']> = {}): LogInProvider {
    return {
      method: {
        name,
        kind: 'openIdConnectAuthentication',
        displayName: name,
        displayIcon: null,
        realms: null,
        ...policy,
      },
      begin: async ({ state }) => `https://${name}.example/?state=${state}`,
      identify: async () => ({
        subject: 's',
        email: null,
        emailStatements: [],
        fullName: 'Yorick',
        role: null,
        ...this.confirmed,
      }),
    };
  }
}
