import { GetBotStorage, PutBotStorage, RemoveBotStorage } from '@parley/domain/bots';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork } = TOKENS;

export const botsModule = new ContainerModule(({ bind }) => {
  provide(bind, GetBotStorage, unitOfWork);
  provide(bind, PutBotStorage, unitOfWork);
  provide(bind, RemoveBotStorage, unitOfWork);
});
