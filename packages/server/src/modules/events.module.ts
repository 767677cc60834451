import { RegisterQueue } from '@parley/domain/events';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

export const eventsModule = new ContainerModule(({ bind }) => {
  provide(bind, RegisterQueue, TOKENS.unitOfWork, TOKENS.clock, TOKENS.randomness, TOKENS.servedQueues);
});
