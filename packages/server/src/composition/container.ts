import type { Ports } from '@parley/domain/composition';
import { ContainerModule } from 'inversify';
import { Injector } from '../kernel/injector.js';
import type { Resolve } from '../kernel/resolve.js';
import type { Adapter, Complete, Services } from './adapter.js';
import { blobs } from './modules/blobs.js';
import { bus } from './modules/bus.js';
import { domain } from './modules/domain.js';
import { express } from './modules/express.js';
import { images } from './modules/images.js';
import { jobs } from './modules/jobs.js';
import { limits } from './modules/limits.js';
import { logIn } from './modules/log-in.js';
import { mail } from './modules/mail.js';
import { markdown } from './modules/markdown.js';
import { moving } from './modules/moving.js';
import { node } from './modules/node.js';
import { push } from './modules/push.js';
import { storage } from './modules/storage.js';
import { web } from './modules/web.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import { quietly } from './quiet.js';

/** Creates the container of a whole server, which constructs each part on first use. */
export const createContainer = (dependencies: ParleyDependencies): ServerContainer => {
  const options = quietly(dependencies);
  return ServerContainer.load(
    domain(options),
    node(options),
    storage(options),
    bus(options),
    express(options),
    limits(options),
    markdown(options),
    blobs(options),
    images(options),
    mail(options),
    push(options),
    logIn(options),
    web(options),
    jobs(options),
    moving(options),
  );
};

export class ServerContainer extends Injector<Services> {
  private constructor(private readonly adapters: readonly Adapter<never>[]) {
    super(adapters);
  }

  /** Does not compile if no adapter provides one of the services. */
  static load<Listed extends readonly Adapter<never>[]>(...adapters: Listed & Complete<Listed>): ServerContainer {
    return new ServerContainer(adapters);
  }

  /** Returns the ports for constructing use cases, and constructs every other part too. */
  ports(): Ports {
    const names = this.adapters.flatMap((adapter) => adapter.names);
    return Object.fromEntries(names.map((name) => [name, this.get(name)])) as unknown as Ports;
  }
}

/** Creates a resolver for all use cases on these ports. */
export function compose(ports: Ports): Resolve {
  const values = new ContainerModule(({ bind }) => {
    for (const [name, port] of Object.entries(ports)) bind(name).toConstantValue(port);
  });
  return new Injector<Ports>([values]).resolve;
}
