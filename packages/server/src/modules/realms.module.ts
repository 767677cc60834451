import { ChangeRealm, ChangeUserDefaults, CreateRealm, GetServerSettings } from '@parley/domain';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const {
  unitOfWork,
  clock,
  randomness,
  realmAddresses,
  developmentMode,
  channelOptions,
  markdownRenderer,
  serverAddress,
} = TOKENS;

export const realmsModule = new ContainerModule(({ bind }) => {
  provide(bind, ChangeRealm, unitOfWork, markdownRenderer, realmAddresses, clock, developmentMode);
  provide(bind, ChangeUserDefaults, unitOfWork);
  provide(bind, CreateRealm, unitOfWork, clock, randomness, serverAddress);
  provide(bind, GetServerSettings, unitOfWork, realmAddresses, developmentMode, channelOptions);
});
