import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import { all, provide, provideAs, provideFrom, provideValue, token } from './provide.js';

interface Greeter {
  greet(): string;
}
const greeterPort = token<Greeter>('Greeter');
const namePort = token<string>('name');

class Polite implements Greeter {
  constructor(private readonly name: string) {}
  greet(): string {
    return `Good morning, ${this.name}`;
  }
}

class Door {
  constructor(
    readonly greeter: Greeter,
    readonly polite: Polite,
  ) {}
}

function containerOf(load: ConstructorParameters<typeof ContainerModule>[0]): Container {
  const container = new Container();
  container.load(new ContainerModule(load));
  return container;
}

describe('provide', () => {
  const container = containerOf(({ bind }) => {
    bind(namePort as ServiceIdentifier<string>).toConstantValue('Hamlet');
    provide(bind, Polite, namePort);
    bind(greeterPort as ServiceIdentifier<Greeter>).toService(Polite);
    provide(bind, Door, greeterPort, Polite);
  });

  it('hands each class its dependencies', () => {
    expect(container.get(Door).greeter.greet()).toBe('Good morning, Hamlet');
  });

  it('makes one of each', () => {
    expect(container.get(Door)).toBe(container.get(Door));
    expect(container.get(Door).greeter).toBe(container.get(Door).polite);
  });

  it('is checked by the compiler', () => {
    containerOf(({ bind }) => {
      // @ts-expect-error the greeter is missing
      provide(bind, Door, Polite);
      // @ts-expect-error a name is no greeter
      provide(bind, Door, namePort, Polite);
    });
    expect(() => containerOf(() => {}).get(Door)).toThrow();
  });
});

describe('all', () => {
  const greeters = token<Greeter>('greeters');
  class Choir {
    constructor(readonly members: readonly Greeter[]) {}
  }

  it('hands over everything that is bound, in the order of binding', () => {
    const container = containerOf(({ bind }) => {
      provideValue(bind, namePort, 'Hamlet');
      provide(bind, Polite, namePort);
      provideAs(bind, greeters, Polite);
      provideFrom(bind, greeters, (name) => ({ greet: () => `Hello ${name}` }), namePort);
      provide(bind, Choir, all(greeters));
    });
    const { members } = container.get(Choir);
    expect(members.map((greeter) => greeter.greet())).toEqual(['Good morning, Hamlet', 'Hello Hamlet']);
    expect(members[0]).toBe(container.get(Polite));
    expect(container.getAll(greeters as ServiceIdentifier<Greeter>)[1]).toBe(members[1]);
  });

  it('hands over an empty list when nothing is bound', () => {
    expect(containerOf(({ bind }) => provide(bind, Choir, all(greeters))).get(Choir).members).toEqual([]);
  });

  it('is checked by the compiler', () => {
    containerOf(({ bind }) => {
      // @ts-expect-error names are no greeters
      provide(bind, Choir, all(namePort));
      // @ts-expect-error a list is no name
      provide(bind, Polite, all(namePort));
    });
  });
});
