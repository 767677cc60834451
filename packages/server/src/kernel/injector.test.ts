import type { Clock } from '@parley/domain/kernel';
import { FixedClock } from '@parley/testkit';
import { ContainerModule } from 'inversify';
import { Injector } from './injector.js';

class Greeter {
  static readonly inject = ['clock'] as const;
  constructor(readonly clock: Clock) {}
}

class Door {
  static readonly inject = [Greeter, 'clock', 'origin'] as const;
  constructor(
    readonly greeter: Greeter,
    readonly clock: Clock,
    readonly origin: URL,
  ) {}
}

describe('Injector', () => {
  const clock = new FixedClock();
  let made = 0;
  const ports = new ContainerModule(({ bind }) => {
    bind('clock').toConstantValue(clock);
    bind('origin').toDynamicValue(() => {
      made++;
      return new URL('https://chat.example.com');
    });
  });
  const injector = new Injector<{ clock: Clock; origin: URL }>([ports]);

  it('constructs each part on first use', () => {
    expect(made).toBe(0);
  });

  it('passes ports and classes to the constructor in `inject` order', () => {
    const door = injector.resolve(Door);
    expect(door.clock).toBe(clock);
    expect(door.origin.hostname).toBe('chat.example.com');
    expect(door.greeter).toBeInstanceOf(Greeter);
  });

  it('constructs one instance of each class and port', () => {
    expect(injector.resolve(Door)).toBe(injector.resolve(Door));
    expect(injector.resolve(Door).greeter).toBe(injector.resolve(Greeter));
    expect(injector.get('origin')).toBe(injector.resolve(Door).origin);
    expect(made).toBe(1);
  });

  it('reports the class without `inject`', () => {
    class Stranger {}
    // @ts-expect-error it has no `inject`
    expect(() => injector.resolve(Stranger)).toThrow(/no Stranger/);
  });
});
