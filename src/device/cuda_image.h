/* cuda_image.h: the kernels as the driver takes them: PTX, or machine code and PTX where nvcc was there. Constant. */
#ifndef LEAT_CUDA_IMAGE_H
#define LEAT_CUDA_IMAGE_H

extern const char cuda_image_ptx[]; /* ends with a NUL */

/* A file of machine code for several GPUs; NULL: this build has none. */
const void *cuda_image_fatbin(void);

#endif
