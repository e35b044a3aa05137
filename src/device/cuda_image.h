/* cuda_image.h: the kernels for the driver: PTX, and machine code if the build had nvcc. Constant. */
#ifndef LEAT_CUDA_IMAGE_H
#define LEAT_CUDA_IMAGE_H

extern const char cuda_image_ptx[]; /* ends with a NUL */

/* Returns a file of machine code for several GPUs, or NULL if this build has none. */
const void *cuda_image_fatbin(void);

#endif
