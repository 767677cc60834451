import { QUEUE_FILTERS } from '@parley/domain/composition';
import { RegisterQueue } from '@parley/domain/events';
import { ContainerModule } from 'inversify';
import { provideFrom } from '../provide.js';
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
});
