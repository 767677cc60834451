import type { Ports } from '@parley/domain/composition';
import { Injector, type Makers, type Resolve } from '../kernel/injector.js';
import { domainPorts } from './domain-ports.js';
import { serviceMakers } from './make-services.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import type { Get, ServerServices } from './services.js';

/** Creates a resolver for all use cases on these ports. */
export function compose(ports: Ports): Resolve {
  const makers = Object.entries(ports).map(([name, port]) => [name, () => port]);
  return new Injector<Ports>(() => Object.fromEntries(makers) as Makers<Ports>).resolve;
}

/** Container of a whole server; constructs each part on first use. */
export class ServerContainer {
  readonly get: Get;
  readonly resolve: Resolve;
  private readonly portNames: readonly (keyof Ports)[];

  constructor(options: ParleyDependencies) {
    let ports!: Makers<Ports>;
    const { get, resolve } = new Injector<Ports & ServerServices>((injector) => {
      ports = domainPorts(options, injector.get, injector.resolve);
      return { ...ports, ...serviceMakers(options, injector.get, injector.resolve) };
    });
    this.get = get;
    this.resolve = resolve;
    this.portNames = Object.keys(ports) as (keyof Ports)[];
  }

  /** Returns the ports for constructing use cases. */
  ports(): Ports {
    return Object.fromEntries(this.portNames.map((name) => [name, this.get(name)])) as unknown as Ports;
  }
}
