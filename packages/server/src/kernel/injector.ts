import { type Resolve as DomainResolve, type Injectable, NAMED_SERVICES } from '@parley/domain/composition';
import type { Logger, RateLimiter } from '@parley/http';
import { Container } from 'inversify';
import type { OpenRealm, RealmResolverOptions } from './realm-resolver.js';

/** Names that classes of this package inject in addition to the domain's ports. */
export interface InjectedServices {
  readonly options: RealmResolverOptions;
  readonly logger: Logger;
  readonly limiter: RateLimiter;
  readonly openRealm: OpenRealm;
}

/** Returns the one instance of a use case or of another class with `inject`. */
export type Resolve = DomainResolve<InjectedServices>;

/** One factory per named dependency; called once, on first use. */
export type Makers<Named> = { readonly [Name in keyof Named]: () => Named[Name] };

/** Constructs singletons on first use from the dependencies named in their `inject`. */
export class Injector<Named> {
  private readonly container = new Container({ defaultScope: 'Singleton' });

  constructor(makersOf: (injector: Injector<Named>) => Makers<Named>) {
    for (const [name, make] of Object.entries<() => unknown>(makersOf(this))) {
      this.container.bind(name).toDynamicValue(() => make());
    }
    for (const [name, service] of Object.entries(NAMED_SERVICES)) {
      this.container.bind(name).toDynamicValue(() => this.resolve<Injectable>(service));
    }
  }

  readonly get = <Name extends keyof Named & string>(name: Name): Named[Name] => this.container.get(name);

  /** Same without type checks; see `Resolve`. */
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
