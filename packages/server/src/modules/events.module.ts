import { QUEUE_FILTERS } from '@parley/domain/composition';
import { ListClientsInUse, LoadClientState, RegisterQueue } from '@parley/domain/events';
import { ContainerModule } from 'inversify';
import { provide, provideFrom } from '../provide.js';
import { TOKENS } from '../tokens.js';

export const eventsModule = new ContainerModule(({ bind }) => {
  provideFrom(
    bind,
    RegisterQueue,
    (uow, clock, randomness, served) => new RegisterQueue(uow, clock, randomness, served, QUEUE_FILTERS),
    TOKENS.unitOfWork,
    TOKENS.clock,
    TOKENS.randomness,
    TOKENS.servedQueues,
  );
  provide(bind, ListClientsInUse, TOKENS.unitOfWork);
  provide(bind, LoadClientState, TOKENS.unitOfWork);
});
