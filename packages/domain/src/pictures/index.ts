import './picture-errors.js';

export type { Picture, PictureName, PictureRepository } from './picture.js';
export * from './use-cases/read-picture.js';
