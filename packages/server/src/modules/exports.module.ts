import { ImportRealm, RealmReader } from '@parley/domain/exports';
import { DeleteRealmData } from '@parley/domain/realms';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { apiKeyMint, blobStore, clock, randomness, serverAddress, unitOfWork } = TOKENS;

export const exportsModule = new ContainerModule(({ bind }) => {
  provide(bind, RealmReader, unitOfWork, blobStore);
  provide(bind, ImportRealm, unitOfWork, blobStore, apiKeyMint, serverAddress, DeleteRealmData, clock, randomness);
});
