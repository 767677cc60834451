import { FixedClock } from '@parley/testkit';
import { Injector } from '../kernel/injector.js';
import { RealmResolver } from '../kernel/realm-resolver.js';
import { Adapter, type Services } from './adapter.js';

describe('Adapter', () => {
  const clock = new FixedClock();
  const own = () => new Adapter({ clock: () => clock, report: () => () => {} });

  it('makes services on first use from services of other adapters', () => {
    const made: string[] = [];
    const others = new Adapter({
      randomness: ({ get }) => {
        made.push('randomness');
        return { uuid: () => String(get('clock').now()), fraction: () => 0 };
      },
    });
    const { get } = new Injector<Services>([others, own()]);
    expect(made).toEqual([]);
    expect(get('randomness').uuid()).toBe(String(clock.now()));
    expect(get('randomness')).toBe(get('randomness'));
    expect(made).toEqual(['randomness']);
  });

  it('makes services from classes with `inject`', () => {
    const realms = new Adapter({
      unitOfWork: () => ({}) as Services['unitOfWork'],
      options: () => ({ url: 'https://chat.example.com/chat', defaultRealm: null, isDev: false }),
      openRealm: () => () => null,
      realmUrls: ({ resolve }) => resolve(RealmResolver),
    });
    const { get, resolve } = new Injector<Services>([own(), realms]);
    expect(get('realmUrls')).toBe(resolve(RealmResolver));
  });

  it('rejects a service that two adapters provide', () => {
    const { get } = new Injector<Services>([own(), own()]);
    expect(() => get('clock')).toThrow(/Ambiguous bindings found for service: "clock"/);
  });
});
