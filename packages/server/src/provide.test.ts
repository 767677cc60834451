import { Container, ContainerModule } from 'inversify';
import { provide, provideAs, supply, token } from './provide.js';

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
    supply(bind, namePort, 'Hamlet');
    provide(bind, Polite, namePort);
    provideAs(bind, greeterPort, Polite);
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
      // @ts-expect-error a number is no name
      supply(bind, namePort, 7);
      // @ts-expect-error a door is no greeter
      provideAs(bind, greeterPort, Door);
    });
    expect(() => containerOf(() => {}).get(Door)).toThrow();
  });
});
