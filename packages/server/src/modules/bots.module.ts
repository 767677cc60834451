import {
  CreateBot,
  DeactivateBot,
  GetBotApiKey,
  GetBotStorage,
  ListOwnBots,
  PutBotStorage,
  RegenerateApiKey,
  RegenerateBotApiKey,
  RemoveBotStorage,
  UpdateBot,
} from '@parley/domain/bots';
import { PictureMaker } from '@parley/domain/pictures';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, apiKeyMint, realmUrls, clock, randomness } = TOKENS;

export const botsModule = new ContainerModule(({ bind }) => {
  provide(bind, CreateBot, unitOfWork, apiKeyMint, realmUrls, clock, randomness, PictureMaker);
  provide(bind, ListOwnBots, unitOfWork, apiKeyMint, clock);
  provide(bind, UpdateBot, unitOfWork, realmUrls, clock, PictureMaker);
  provide(bind, DeactivateBot, unitOfWork);
  provide(bind, GetBotApiKey, unitOfWork, apiKeyMint, clock);
  provide(bind, RegenerateBotApiKey, unitOfWork, apiKeyMint, clock);
  provide(bind, RegenerateApiKey, unitOfWork, apiKeyMint, clock);
  provide(bind, GetBotStorage, unitOfWork);
  provide(bind, PutBotStorage, unitOfWork);
  provide(bind, RemoveBotStorage, unitOfWork);
});
