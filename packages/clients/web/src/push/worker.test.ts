import { removeFormerWorker } from './worker.js';

const BASE = 'https://chat.example.com/team/';

/** Returns the scopes that remain registered. Like browsers, finds the longest scope that contains an address. */
async function remainingOf(...scopes: readonly string[]): Promise<readonly string[]> {
  const registered = new Set(scopes);
  const getRegistration = async (address: string) => {
    const [scope] = [...registered].filter((each) => address.startsWith(each)).sort((a, b) => b.length - a.length);
    return scope && { scope, unregister: async () => registered.delete(scope) };
  };
  Object.defineProperty(globalThis, 'navigator', { value: { serviceWorker: { getRegistration } }, configurable: true });
  await removeFormerWorker(BASE);
  return [...registered];
}

describe('the service worker', () => {
  afterAll(() => Reflect.deleteProperty(globalThis, 'navigator'));

  it('replaces the worker that version 0.2 registered for the folder of its script', async () => {
    expect(await remainingOf(BASE, `${BASE}web/`)).toEqual([BASE]);
  });

  it('keeps the workers of the organization and of the whole site', async () => {
    expect(await remainingOf(BASE, 'https://chat.example.com/')).toEqual([BASE, 'https://chat.example.com/']);
  });
});
