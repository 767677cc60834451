import { ChangeRealm, ChangeUserDefaults, CreateRealm, GetServerSettings } from '@parley/domain';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const {
  unitOfWork,
  clock,
  randomness,
  realmUrls,
  developmentMode,
  serverChannelConfig,
  markdownRenderer,
  serverAddress,
} = TOKENS;

export const realmsModule = new ContainerModule(({ bind }) => {
  provide(bind, ChangeRealm, unitOfWork, markdownRenderer, realmUrls, clock, developmentMode);
  provide(bind, ChangeUserDefaults, unitOfWork);
  provide(bind, CreateRealm, unitOfWork, clock, randomness, serverAddress);
  provide(bind, GetServerSettings, unitOfWork, realmUrls, developmentMode, serverChannelConfig);
});
