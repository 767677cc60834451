import { ChangeOwnAvatar, FindAvatar, RemoveOwnAvatar, SpectateAvatar } from '@parley/domain/avatars';
import { ChangeRealmImage, FindOwnRealm, RemoveRealmImage } from '@parley/domain/branding';
import { AddCustomEmoji, DeactivateCustomEmoji, ListCustomEmoji } from '@parley/domain/custom-emoji';
import { PictureMaker, ReadPicture } from '@parley/domain/pictures';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { blobStore, imageProcessor, randomness, serverChannelConfig, unicodeEmoji, unitOfWork } = TOKENS;

export const picturesModule = new ContainerModule(({ bind }) => {
  provide(bind, PictureMaker, blobStore, imageProcessor, randomness);
  provide(bind, ReadPicture, unitOfWork, blobStore);
  provide(bind, ChangeOwnAvatar, unitOfWork, PictureMaker);
  provide(bind, RemoveOwnAvatar, unitOfWork, PictureMaker);
  provide(bind, FindAvatar, unitOfWork);
  provide(bind, SpectateAvatar, unitOfWork, serverChannelConfig);
  provide(bind, FindOwnRealm, unitOfWork);
  provide(bind, ChangeRealmImage, unitOfWork, PictureMaker);
  provide(bind, RemoveRealmImage, unitOfWork, PictureMaker);
  provide(bind, ListCustomEmoji, unitOfWork);
  provide(bind, AddCustomEmoji, unitOfWork, unicodeEmoji, imageProcessor, PictureMaker);
  provide(bind, DeactivateCustomEmoji, unitOfWork);
});
