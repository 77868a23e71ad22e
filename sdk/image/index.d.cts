/** The path of the folder with the image and its machine code. */
export const bundle: string;
