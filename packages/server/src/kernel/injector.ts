import { type Injectable, NAMED_SERVICES } from '@parley/domain/composition';
import { Container, type ContainerModule } from 'inversify';

/**
 * Container of named services, which its modules bind, and of classes with `inject`, which it binds when they are first
 * resolved.
 */
export class Injector<Named> {
  private readonly container = new Container({ defaultScope: 'Singleton' });

  constructor(modules: readonly ContainerModule[]) {
    this.container.bind(Injector).toConstantValue(this);
    for (const [name, service] of Object.entries(NAMED_SERVICES)) {
      this.container.bind(name).toDynamicValue(() => this.resolve<Injectable>(service));
    }
    this.container.load(...modules);
  }

  readonly get = <Name extends keyof Named & string>(name: Name): Named[Name] => this.container.get(name);

  /** Same without type checks; see `Resolve` in `resolve.ts`. */
  readonly resolve = <C extends Injectable>(type: C): InstanceType<C> => {
    this.bind(type);
    return this.container.get<unknown>(type) as InstanceType<C>;
  };

  private bind(type: Injectable): void {
    if (this.container.isBound(type)) return;
    if (!type.inject) throw unknownClass(type);
    const dependencies = type.inject as readonly (string | Injectable)[];
    for (const dependency of dependencies) if (typeof dependency !== 'string') this.bind(dependency);
    this.container.bind(type).toResolvedValue((...made: unknown[]) => new type(...made), [...dependencies]);
  }
}

export const unknownClass = (type: Injectable): Error =>
  new Error(
    `This engine has no ${type.name}. A use case must come from the same copy of Parley as createParley; ` +
      '`npm ls` shows why there are two copies.',
  );
