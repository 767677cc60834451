import { loadBinary, loadOptional, MissingLibrary, requireLoadableDriver } from './optional-library.js';

const notFound = (name: string, code: string) => Object.assign(new Error(`Cannot find package '${name}'`), { code });
const load = (error: Error) => () => loadOptional('ldapts openid-client', 'logins', () => raise(error));
const raise = (error: Error): never => {
  throw error;
};

describe('loadOptional', () => {
  it('returns the library, even from a promise', async () => {
    const library = { Client: 'a class' };
    expect(loadOptional('ldapts', 'ldap', () => library)).toBe(library);
    expect(await loadOptional('ldapts', 'ldap', async () => library)).toBe(library);
    // Exports of a bundled library.
    expect(await loadOptional('ldapts', 'ldap', async () => ({ default: library }))).toBe(library);
  });

  it.each(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])('names the setting and the command on %s', async (code) => {
    const refused = load(notFound('openid-client/browser', code));
    expect(refused).toThrow(MissingLibrary);
    expect(refused).toThrow(/^logins needs a library that is not installed\. Run: npm install ldapts openid-client$/);
    await expect(loadOptional('ldapts', 'ldap', () => Promise.reject(notFound('ldapts', code)))).rejects.toThrow(
      MissingLibrary,
    );
  });

  it('rethrows every other error', () => {
    const errors = [new Error("'ldapts' is broken"), notFound('asn1', 'MODULE_NOT_FOUND')];
    for (const error of errors) expect(load(error)).toThrow(error);
  });
});

describe('loadBinary', () => {
  it('names the command of each package manager in one line if the install script did not run', () => {
    const error = new Error(
      'Could not locate the bindings file. Tried:\n → /app/build/better_sqlite3.node\n → /app/out',
    );
    const refused = () => loadBinary('better-sqlite3', () => raise(error));
    expect(refused).toThrow(MissingLibrary);
    expect(refused).toThrow(
      /^better-sqlite3 has no binary.*npm approve-scripts .*pnpm approve-builds .*yarn .*bun pm .*$/,
    );
  });

  it('returns what was loaded, and rethrows every other error', () => {
    const error = new Error('unable to open database file');
    expect(loadBinary('better-sqlite3', () => 'a database')).toBe('a database');
    expect(() => loadBinary('better-sqlite3', () => raise(error))).toThrow(error);
  });
});

describe('requireLoadableDriver', () => {
  it.each([
    ['12.11.1', '9', true],
    ['12.11.1', undefined, true],
    ['13.2.0', '9', false],
    ['13.2.0', undefined, false],
    ['13.2.0', '10', true],
    ['14.0.0', '9', false],
  ])('accepts better-sqlite3 %s with Node-API %s: %s', (driver, nodeApi, isLoadable) => {
    const load = () => requireLoadableDriver(driver, nodeApi);
    if (isLoadable) expect(load).not.toThrow();
    else
      expect(load).toThrow(
        /^better-sqlite3 [\d.]+ needs Node 22\.14 or newer\. Run: npm install better-sqlite3@12, or use Node 22\.14 or newer$/,
      );
  });
});
