import './picture-errors.js';

export type { Picture, PictureName, PictureRepository } from './picture.js';
export { PictureMaker } from './picture-maker.js';
export * from './use-cases/read-picture.js';
